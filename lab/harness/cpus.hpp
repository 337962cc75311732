// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Which CPUs this process may use, staying on one of them, and what the kernel says of two.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenure::lab {

/// The CPUs that the process was started with, the highest first: the lowest takes most of the interrupts.
[[nodiscard]] std::vector<int> allowed_cpus();

/// Keeps the calling thread, and what it starts from then on, on one CPU. Returns whether the system did it.
bool pin_to_cpu(int cpu);

/// Gives the index-th thread of a measurement a CPU of its own. Does nothing where there are fewer CPUs than that.
bool pin_thread(std::size_t index);

/// The CPU that the calling thread is on; below zero when the system does not say.
[[nodiscard]] int current_cpu();

/// How two CPUs stand to each other, by the kernel's topology. What a virtual machine shows as two cores may be two
/// threads of one, and the kernel in it cannot know.
enum class cpu_relation : std::uint8_t { same, one_core, two_cores, unknown };
[[nodiscard]] cpu_relation relation_of(int one, int other, const std::string& directory = "/sys/devices/system/cpu");

/// Whether a list of the kernel's, such as "0-1,4", has the CPU in it.
[[nodiscard]] bool cpu_list_holds(std::string_view list, int cpu);

}
