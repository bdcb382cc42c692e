"""Finds NVRTC in the packages of this Python, and compiles with it.

Arguments: `find` prints version and architectures as JSON; `compile` reads a job as JSON from stdin
and prints the messages and the PTX as JSON. The exit code is 3 if there is no NVRTC.
"""

import sys

# files in the working directory are no modules of this script
sys.path[:] = [folder for folder in sys.path if folder]

import ctypes
import importlib.util
import json
import re
from pathlib import Path


def libraries():
    """Returns the paths of the libraries, those of the newest version first."""
    try:
        packages = importlib.util.find_spec("nvidia")
    except (ImportError, ValueError):
        packages = None
    found = []
    for folder in packages.submodule_search_locations or () if packages else ():
        for pattern in ("*/lib/libnvrtc.so*", "*/bin/nvrtc64*.dll", "*/bin/*/nvrtc64*.dll"):
            paths = (path for path in Path(folder).glob(pattern) if ".alt." not in path.name)
            found.extend(sorted(paths))
    number = lambda path: [int(part) for part in re.findall(r"\d+", path.name)]
    return sorted(found, key=number, reverse=True)


def load():
    """Returns the first library that can be loaded."""
    for path in libraries():
        try:
            return ctypes.CDLL(str(path))
        except OSError as error:
            print(error, file=sys.stderr)
    sys.exit(3)


def check(nvrtc, result):
    """Ends the script if a call failed that cannot fail because of the source."""
    if result != 0:
        nvrtc.nvrtcGetErrorString.restype = ctypes.c_char_p
        sys.exit(nvrtc.nvrtcGetErrorString(result).decode())


def find(nvrtc):
    """Returns the version, and the architectures for which the library compiles."""
    major, minor, count = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    check(nvrtc, nvrtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)))
    check(nvrtc, nvrtc.nvrtcGetNumSupportedArchs(ctypes.byref(count)))
    architectures = (ctypes.c_int * count.value)()
    check(nvrtc, nvrtc.nvrtcGetSupportedArchs(architectures))
    return {"version": [major.value, minor.value], "architectures": list(architectures)}


def words(texts):
    """Returns texts as an array of C."""
    return (ctypes.c_char_p * len(texts))(*(text.encode() for text in texts))


def text(nvrtc, program, size, get):
    """Returns a text that the library has for a program."""
    length = ctypes.c_size_t()
    check(nvrtc, getattr(nvrtc, size)(program, ctypes.byref(length)))
    buffer = ctypes.create_string_buffer(length.value)
    check(nvrtc, getattr(nvrtc, get)(program, buffer))
    return buffer.value.decode(errors="replace")


def compiled(nvrtc, job):
    """Returns the messages and the PTX of a source."""
    program = ctypes.c_void_p()
    headers = job["headers"]
    check(
        nvrtc,
        nvrtc.nvrtcCreateProgram(
            ctypes.byref(program),
            job["source"].encode(),
            job["name"].encode(),
            len(headers),
            words(list(headers.values())),
            words(list(headers)),
        ),
    )
    result = nvrtc.nvrtcCompileProgram(program, len(job["options"]), words(job["options"]))
    log = text(nvrtc, program, "nvrtcGetProgramLogSize", "nvrtcGetProgramLog")
    ptx = text(nvrtc, program, "nvrtcGetPTXSize", "nvrtcGetPTX") if result == 0 else None
    return {"log": log, "ptx": ptx}


def main():
    nvrtc = load()
    if sys.argv[1] == "find":
        result = find(nvrtc)
    else:
        result = compiled(nvrtc, json.loads(sys.stdin.buffer.read()))
    print(json.dumps(result))


main()
