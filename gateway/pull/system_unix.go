//go:build linux || darwin

package pull

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// freeSpace returns the bytes that are left for users on the disk of a folder.
func freeSpace(dir string) (uint64, bool) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, false
	}
	return st.Bavail * uint64(st.Bsize), true
}

// diskFull reports whether err means that there is no room.
func diskFull(err error) bool { return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) }

// tryLock takes f for this process, unless another open file has it.
func tryLock(f *os.File) bool { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil }
