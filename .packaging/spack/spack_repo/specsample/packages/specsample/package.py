# A repository of one package, for Spack 1.0 and newer, which installs the git repository that it lies in:
#
#     spack repo add .packaging/spack/spack_repo/specsample
#     spack install specsample
from pathlib import Path

from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Specsample(CMakePackage):
    """Exact speculative sampling of language models. The package is header-only. In CMake, find_package(specsample)
    gives specsample::specsample, and specsample::compiled, which is compiled once by whoever links it."""

    git = Path(__file__).resolve().parents[6].as_uri()

    license("MIT")

    version("0.3.0", branch="main")

    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("eigen@3.4:5")

    def cmake_args(self):
        parts = "SPECSAMPLE_BUILD_TESTS", "SPECSAMPLE_BUILD_EXAMPLES", "SPECSAMPLE_BUILD_BENCH"
        return [self.define(part, False) for part in parts]
