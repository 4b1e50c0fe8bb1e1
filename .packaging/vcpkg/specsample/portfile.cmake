# An overlay port, which installs the tree that it lies in: vcpkg install specsample --overlay-ports=.packaging/vcpkg
#
# The package is header-only. In CMake, find_package(specsample) gives specsample::specsample, and specsample::compiled,
# which is compiled once by whoever links it.
set(VCPKG_BUILD_TYPE release)
get_filename_component(source ${CURRENT_PORT_DIR}/../../.. ABSOLUTE)
vcpkg_cmake_configure(
    SOURCE_PATH ${source}
    OPTIONS -D SPECSAMPLE_BUILD_TESTS=OFF -D SPECSAMPLE_BUILD_EXAMPLES=OFF -D SPECSAMPLE_BUILD_BENCH=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH share/cmake/specsample)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE ${CURRENT_PACKAGES_DIR}/lib)  # is empty
vcpkg_install_copyright(FILE_LIST ${source}/LICENSE)
