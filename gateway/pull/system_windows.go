package pull

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// freeSpace returns the bytes that are left for users on the disk of a folder.
func freeSpace(dir string) (uint64, bool) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, false
	}
	var free uint64
	err = windows.GetDiskFreeSpaceEx(name, &free, nil, nil)
	return free, err == nil
}

// diskFull reports whether err means that there is no room.
func diskFull(err error) bool { return errors.Is(err, windows.ERROR_DISK_FULL) }

// tryLock takes f for this process, unless another open file has it.
func tryLock(f *os.File) bool {
	how := uint32(windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY)
	return windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, new(windows.Overlapped)) == nil
}
