# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT
"""Conan 2 recipe: conan create packaging/conan --build=missing"""

import re
from pathlib import Path

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy


class TenureConan(ConanFile):
    name = "tenure"
    description = "Native memory library: allocators chosen by how long memory is held"
    license = "MIT"
    topics = ("memory", "allocator", "pool", "arena", "malloc")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "buffer": [True, False]}
    default_options = {"shared": True, "buffer": False}

    def _root(self):
        return Path(self.recipe_folder).resolve().parents[1]

    def set_version(self):
        config = (self._root() / "src/tenure/base/config.hpp").read_text(encoding="utf-8")
        self.version = ".".join(re.search(rf"#define TENURE_VERSION_{part} (\d+)", config)[1]
                                for part in ("MAJOR", "MINOR", "PATCH"))

    def export_sources(self):
        for part in ("CMakeLists.txt", "CMakePresets.json", "LICENSE", "cmake/*", "packaging/*", "src/*", "debuggers/*"):
            copy(self, part, self._root(), self.export_sources_folder)

    def requirements(self):
        if self.options.buffer:
            self.requires("highway/[>=1.0]", transitive_headers=True)

    def validate(self):
        check_min_cppstd(self, 20)
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("tenure's recipe supports Linux")

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.variables["TENURE_TESTS"] = False
        toolchain.variables["TENURE_LAB"] = False
        toolchain.variables["TENURE_SHARED"] = bool(self.options.shared)
        toolchain.variables["CMAKE_DISABLE_FIND_PACKAGE_hwy"] = not self.options.buffer
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, Path(self.package_folder) / "licenses")
        CMake(self).install()

    def package_info(self):
        # The installed CMake package has all targets, with their check levels.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = ["lib/cmake/tenure"]
        self.cpp_info.libs = ["tenure"]
        self.cpp_info.defines = ["TENURE_CHECKS=0"] + (["TENURE_SHARED=1"] if self.options.shared else [])
