"""Reads the recipe for Spack as Spack would, by stand-ins for what it imports, and prints the version, the repository, the
packages that it needs, and the arguments for CMake, each on a line."""
import importlib.util
import sys
import types
import urllib.parse

needs, versions, licences = [], {}, []


class CMakePackage:
    def define(self, name, value):
        assert isinstance(value, bool)
        return f"-D{name}:BOOL={'ON' if value else 'OFF'}"


def module(name, **members):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(members)


for parent in "spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems", "spack":
    module(parent)
module("spack_repo.builtin.build_systems.cmake", CMakePackage=CMakePackage)
module("spack.package",
       license=licences.append,
       version=lambda name, *, branch: versions.update({name: branch}),
       depends_on=lambda spec, type=("build", "link"): needs.append(spec))

spec = importlib.util.spec_from_file_location("package", sys.argv[1])
package = importlib.util.module_from_spec(spec)
spec.loader.exec_module(package)
assert licences == ["MIT"], licences
print(*versions)
print(urllib.parse.unquote(package.Specsample.git))
print(*needs, sep=";")
print(*package.Specsample().cmake_args(), sep=";")
