"""Conan 2 recipe: conan create .packaging/conan

The package is header-only. In CMake, find_package(specsample) gives specsample::specsample, and specsample_compiled, which
is compiled once by whoever links it.
"""
import os
import re

from conan import ConanFile
from conan.tools.files import copy, load


class Specsample(ConanFile):
    name = "specsample"
    description = "Exact speculative sampling of language models"
    license = "MIT"
    topics = ("speculative-decoding", "sampling", "language-models", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    no_copy_source = True

    @property
    def _root(self):
        return os.path.join(self.recipe_folder, "..", "..")

    def set_version(self):
        text = load(self, os.path.join(self._root, "include", "specsample", "core", "config.hpp"))
        self.version = ".".join(re.findall(r"SPECSAMPLE_VERSION_\w+ (\d+)", text))

    def export_sources(self):
        copy(self, "include/*", self._root, self.export_sources_folder)
        copy(self, "LICENSE", self._root, self.export_sources_folder)

    def requirements(self):
        self.requires("eigen/[>=3.4 <6]", transitive_headers=True)

    def package_id(self):
        self.info.clear()

    def package(self):
        copy(self, "include/*", self.source_folder, self.package_folder)
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
        self.cpp_info.set_property("cmake_build_modules", ["include/specsample/compiled/compiled.cmake"])
