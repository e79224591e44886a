"""What the client programs share."""
import os
import sys

BASE = os.environ["OPENAI_API_BASE"]
MODEL = "vicuna-13B"
PIRATE = "Aye, Red Hat be a fine operating system, arrr!"


def check(name, ok, seen=""):
    print(("ok " if ok else "FAILED ") + name, "" if ok else repr(seen), flush=True)
    if not ok:
        sys.exit(1)


def fails(name, call, want, kind=Exception):
    try:
        call()
    except kind as e:
        check(name, want in str(e), e)
    else:
        check(name, False, "no error")
