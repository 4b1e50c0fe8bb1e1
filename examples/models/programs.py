"""Builds the programs of this repository that the scripts here call."""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def built(*programs):
    """Their paths, built where they were not; ends with a sentence if one cannot be."""
    build = ROOT / "build" / "examples"
    configure = ["cmake", "-S", ROOT, "-B", build, "-D", "CMAKE_BUILD_TYPE=Release"]
    configure += [f"-DSPECSAMPLE_BUILD_{part}=OFF" for part in ("TESTS", "BENCH")]
    for command in (configure, ["cmake", "--build", build, "--target", *programs]):
        if subprocess.run(command, stdout=sys.stderr).returncode != 0:
            raise SystemExit(f"{', '.join(programs)} cannot be built; see above")
    return [build / "examples" / program for program in programs]
