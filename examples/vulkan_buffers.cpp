// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// Vulkan: one VkDeviceMemory for all buffers. Each frame places pairs of buffers in it, writes the sources through
// mapped memory, copies them to the targets on the queue, and frees their ranges for the frame in which the device has
// finished with them. The program then reads and compares the copies. A warning or error of the validation layer is a
// failure.
//
// usage: vulkan_buffers [--validated]
// Exits with 77 if there is no device. With --validated, also exits with 77 if the validation layer is not installed.

#include <vulkan/vulkan.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <tenure/lifetime/lifetime.hpp>
#include <tenure/offset/offset_allocator.hpp>

namespace {

constexpr VkDeviceSize memory_bytes = 8 << 20;
constexpr unsigned frames_in_flight = 3;
constexpr unsigned frame_count = 200;
constexpr unsigned copies_of_a_frame = 4;
constexpr int left_out = 77;
constexpr const char* layer = "VK_LAYER_KHRONOS_validation";

int complaints = 0;

VKAPI_ATTR VkBool32 VKAPI_CALL complain(VkDebugUtilsMessageSeverityFlagBitsEXT, VkDebugUtilsMessageTypeFlagsEXT,
                                        const VkDebugUtilsMessengerCallbackDataEXT* message, void*) {
    ++complaints;
    std::printf("validation: %s\n", message->pMessage);
    return VK_FALSE;
}

void must(VkResult result, const char* call) {
    if (result == VK_SUCCESS) return;
    std::printf("%s failed: %d\n", call, result);
    std::exit(1);
}

bool layer_is_there() {
    std::uint32_t count = 0;
    must(vkEnumerateInstanceLayerProperties(&count, nullptr), "vkEnumerateInstanceLayerProperties");
    std::vector<VkLayerProperties> layers(count);
    must(vkEnumerateInstanceLayerProperties(&count, layers.data()), "vkEnumerateInstanceLayerProperties");
    return std::any_of(layers.begin(), layers.end(),
                       [](const VkLayerProperties& each) { return std::strcmp(each.layerName, layer) == 0; });
}

struct gpu {
    VkInstance instance = VK_NULL_HANDLE;
    VkDebugUtilsMessengerEXT messenger = VK_NULL_HANDLE;
    VkPhysicalDevice physical = VK_NULL_HANDLE;
    VkDevice device = VK_NULL_HANDLE;
    VkQueue queue = VK_NULL_HANDLE;
    std::uint32_t family = 0;
    VkDeviceSize atom = 1; ///< flushes of mapped memory are multiples of this size
};

template<class Function>
Function function(const gpu& on, const char* name) {
    return reinterpret_cast<Function>(vkGetInstanceProcAddr(on.instance, name));
}

/// Returns   false when there is no instance.
bool open_instance(gpu& on, bool is_validated) {
    VkDebugUtilsMessengerCreateInfoEXT ear{};
    ear.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT;
    ear.messageSeverity =
        VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
    ear.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT;
    ear.pfnUserCallback = complain;
    const char* const extension = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
    VkApplicationInfo program{};
    program.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
    program.apiVersion = VK_API_VERSION_1_0;
    VkInstanceCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
    info.pApplicationInfo = &program;
    if (is_validated) {
        info.pNext = &ear; // reports on creation and destruction of the instance; the messenger below reports the rest
        info.enabledLayerCount = info.enabledExtensionCount = 1;
        info.ppEnabledLayerNames = &layer;
        info.ppEnabledExtensionNames = &extension;
    }
    if (vkCreateInstance(&info, nullptr, &on.instance) != VK_SUCCESS) return false;
    if (!is_validated) return true;
    const auto create = function<PFN_vkCreateDebugUtilsMessengerEXT>(on, "vkCreateDebugUtilsMessengerEXT");
    must(create(on.instance, &ear, nullptr, &on.messenger), "vkCreateDebugUtilsMessengerEXT");
    return true;
}

void close(const gpu& on) {
    if (on.device != VK_NULL_HANDLE) vkDestroyDevice(on.device, nullptr);
    if (on.messenger != VK_NULL_HANDLE)
        function<PFN_vkDestroyDebugUtilsMessengerEXT>(on, "vkDestroyDebugUtilsMessengerEXT")(on.instance, on.messenger,
                                                                                             nullptr);
    if (on.instance != VK_NULL_HANDLE) vkDestroyInstance(on.instance, nullptr);
}

/// Opens the first device if it has a queue that can copy. Returns   false otherwise.
bool open_device(gpu& on) {
    std::uint32_t count = 0;
    if (vkEnumeratePhysicalDevices(on.instance, &count, nullptr) != VK_SUCCESS || count == 0) return false;
    std::vector<VkPhysicalDevice> devices(count);
    must(vkEnumeratePhysicalDevices(on.instance, &count, devices.data()), "vkEnumeratePhysicalDevices");
    on.physical = devices[0];
    VkPhysicalDeviceProperties about{};
    vkGetPhysicalDeviceProperties(on.physical, &about);
    std::printf("device: %s\n", about.deviceName);
    on.atom = about.limits.nonCoherentAtomSize;
    std::uint32_t families = 0;
    vkGetPhysicalDeviceQueueFamilyProperties(on.physical, &families, nullptr);
    std::vector<VkQueueFamilyProperties> queues(families);
    vkGetPhysicalDeviceQueueFamilyProperties(on.physical, &families, queues.data());
    constexpr VkQueueFlags can_copy = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT;
    while (on.family < families && (queues[on.family].queueFlags & can_copy) == 0) ++on.family;
    if (on.family == families) return false;
    const float priority = 1;
    VkDeviceQueueCreateInfo queue{};
    queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
    queue.queueFamilyIndex = on.family;
    queue.queueCount = 1;
    queue.pQueuePriorities = &priority;
    VkDeviceCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
    info.queueCreateInfoCount = 1;
    info.pQueueCreateInfos = &queue;
    must(vkCreateDevice(on.physical, &info, nullptr, &on.device), "vkCreateDevice");
    vkGetDeviceQueue(on.device, on.family, 0, &on.queue);
    return true;
}

VkBuffer make_buffer(const gpu& on, VkDeviceSize size) {
    VkBufferCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
    info.size = size;
    info.usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    VkBuffer made = VK_NULL_HANDLE;
    must(vkCreateBuffer(on.device, &info, nullptr, &made), "vkCreateBuffer");
    return made;
}

/// One mapped block of device memory and its allocated ranges.
struct device_memory {
    VkDeviceMemory block = VK_NULL_HANDLE;
    unsigned char* mapped = nullptr;
    tenure::offset_allocator ranges{memory_bytes};
};

void open_memory(const gpu& on, device_memory& memory) {
    const VkBuffer probe = make_buffer(on, 1); // buffers with the same usage accept the same memory types
    VkMemoryRequirements needs{};
    vkGetBufferMemoryRequirements(on.device, probe, &needs);
    vkDestroyBuffer(on.device, probe, nullptr);
    VkPhysicalDeviceMemoryProperties types{};
    vkGetPhysicalDeviceMemoryProperties(on.physical, &types);
    VkMemoryAllocateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
    info.allocationSize = memory_bytes;
    while ((needs.memoryTypeBits >> info.memoryTypeIndex & 1) == 0 ||
           (types.memoryTypes[info.memoryTypeIndex].propertyFlags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) == 0)
        ++info.memoryTypeIndex; // Vulkan guarantees that one exists
    must(vkAllocateMemory(on.device, &info, nullptr, &memory.block), "vkAllocateMemory");
    void* mapped = nullptr;
    must(vkMapMemory(on.device, memory.block, 0, VK_WHOLE_SIZE, 0, &mapped), "vkMapMemory");
    memory.mapped = static_cast<unsigned char*>(mapped);
}

struct placed_buffer {
    VkBuffer buffer = VK_NULL_HANDLE;
    VkDeviceSize size = 0;
    tenure::offset_range range;
};

/// Creates a buffer and binds it to a range of the memory. The range is empty when there is no room.
placed_buffer place_buffer(const gpu& on, device_memory& memory, VkDeviceSize size) {
    placed_buffer made{make_buffer(on, size), size, {}};
    VkMemoryRequirements needs{};
    vkGetBufferMemoryRequirements(on.device, made.buffer, &needs);
    // The range covers whole atoms, so that a flush of one buffer does not affect its neighbour.
    const VkDeviceSize whole = (needs.size + on.atom - 1) / on.atom * on.atom;
    made.range = memory.ranges.allocate(whole, std::max(needs.alignment, on.atom));
    if (made.range)
        must(vkBindBufferMemory(on.device, made.buffer, memory.block, made.range.offset), "vkBindBufferMemory");
    return made;
}

VkMappedMemoryRange mapped_range(const device_memory& memory, tenure::offset_range range, VkDeviceSize size) {
    VkMappedMemoryRange part{};
    part.sType = VK_STRUCTURE_TYPE_MAPPED_MEMORY_RANGE;
    part.memory = memory.block;
    part.offset = range.offset;
    part.size = size;
    return part;
}

unsigned char byte_of(unsigned seed, VkDeviceSize index) {
    return static_cast<unsigned char>(seed * 31 + index * 7 + index / 251);
}

void write(const gpu& on, const device_memory& memory, const placed_buffer& to, unsigned seed) {
    for (VkDeviceSize index = 0; index < to.size; ++index)
        memory.mapped[to.range.offset + index] = byte_of(seed, index);
    const VkMappedMemoryRange part = mapped_range(memory, to.range, memory.ranges.size_of(to.range));
    must(vkFlushMappedMemoryRanges(on.device, 1, &part), "vkFlushMappedMemoryRanges");
}

bool holds(const gpu& on, const device_memory& memory, const placed_buffer& from, unsigned seed) {
    const VkDeviceSize whole = (from.size + on.atom - 1) / on.atom * on.atom;
    const VkMappedMemoryRange part = mapped_range(memory, from.range, whole); // its range may be freed, but deferred
    must(vkInvalidateMappedMemoryRanges(on.device, 1, &part), "vkInvalidateMappedMemoryRanges");
    for (VkDeviceSize index = 0; index < from.size; ++index) {
        if (memory.mapped[from.range.offset + index] != byte_of(seed, index)) return false;
    }
    return true;
}

struct copy {
    placed_buffer from, to;
    unsigned seed = 0;
};

/// The device's work for one frame.
struct frame {
    VkCommandBuffer commands = VK_NULL_HANDLE;
    VkFence done = VK_NULL_HANDLE;
    std::vector<copy> copies;
};

/// Waits for the device and compares the copies. Returns   whether all of them are correct.
bool finish_frame(const gpu& on, const device_memory& memory, frame& of) {
    if (of.copies.empty()) return true;
    must(vkWaitForFences(on.device, 1, &of.done, VK_TRUE, UINT64_MAX), "vkWaitForFences");
    must(vkResetFences(on.device, 1, &of.done), "vkResetFences");
    bool all = true;
    for (const copy& each : of.copies) {
        all = holds(on, memory, each.to, each.seed) && all;
        vkDestroyBuffer(on.device, each.from.buffer, nullptr);
        vkDestroyBuffer(on.device, each.to.buffer, nullptr);
    }
    of.copies.clear();
    return all;
}

void submit(const gpu& on, const frame& of) {
    VkCommandBufferBeginInfo begin{};
    begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    must(vkBeginCommandBuffer(of.commands, &begin), "vkBeginCommandBuffer");
    for (const copy& each : of.copies) {
        const VkBufferCopy all{0, 0, each.from.size};
        vkCmdCopyBuffer(of.commands, each.from.buffer, each.to.buffer, 1, &all);
    }
    VkMemoryBarrier readable{};
    readable.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
    readable.srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
    readable.dstAccessMask = VK_ACCESS_HOST_READ_BIT;
    vkCmdPipelineBarrier(of.commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &readable, 0,
                         nullptr, 0, nullptr);
    must(vkEndCommandBuffer(of.commands), "vkEndCommandBuffer");
    VkSubmitInfo info{};
    info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    info.commandBufferCount = 1;
    info.pCommandBuffers = &of.commands;
    must(vkQueueSubmit(on.queue, 1, &info, of.done), "vkQueueSubmit");
}

/// Places, writes and copies the buffers of a frame. Returns   false when there is no room.
bool start_frame(const gpu& on, device_memory& memory, frame& of, unsigned number) {
    for (unsigned each = 0; each < copies_of_a_frame; ++each) {
        const unsigned seed = number * copies_of_a_frame + each;
        const VkDeviceSize size = seed * 7919 % 100'000 + 1;
        const copy next{place_buffer(on, memory, size), place_buffer(on, memory, size), seed};
        if (!next.from.range || !next.to.range) return false;
        write(on, memory, next.from, seed);
        of.copies.push_back(next);
    }
    submit(on, of);
    for (const copy& each : of.copies) { // not reused before this frame slot comes up again
        memory.ranges.deallocate_after(each.from.range, frames_in_flight);
        memory.ranges.deallocate_after(each.to.range, frames_in_flight);
    }
    tenure::next_frame();
    return true;
}

/// Returns   whether every byte was copied correctly and all memory is free at the end.
bool run_frames(const gpu& on, VkCommandPool pool) {
    device_memory memory;
    open_memory(on, memory);
    frame frames[frames_in_flight];
    for (frame& each : frames) {
        VkCommandBufferAllocateInfo commands{};
        commands.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
        commands.commandPool = pool;
        commands.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
        commands.commandBufferCount = 1;
        must(vkAllocateCommandBuffers(on.device, &commands, &each.commands), "vkAllocateCommandBuffers");
        VkFenceCreateInfo fence{};
        fence.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO;
        must(vkCreateFence(on.device, &fence, nullptr, &each.done), "vkCreateFence");
    }
    const placed_buffer kept = place_buffer(on, memory, 300'000); // stays allocated during all frames
    write(on, memory, kept, frame_count * copies_of_a_frame);

    bool good = true;
    for (unsigned number = 0; number < frame_count && good; ++number) {
        frame& turn = frames[number % frames_in_flight];
        good = finish_frame(on, memory, turn) && start_frame(on, memory, turn, number);
    }
    const tenure::offset_usage late = memory.ranges.usage();
    std::printf("after %u frames: %zu buffers, %llu KiB free, largest range %llu KiB, deferred %llu KiB\n", frame_count,
                late.range_count, static_cast<unsigned long long>(late.free >> 10),
                static_cast<unsigned long long>(late.largest_free >> 10),
                static_cast<unsigned long long>(late.waiting >> 10));
    must(vkDeviceWaitIdle(on.device), "vkDeviceWaitIdle");
    for (frame& each : frames) {
        good = finish_frame(on, memory, each) && good;
        vkDestroyFence(on.device, each.done, nullptr);
        tenure::next_frame();
    }
    good = holds(on, memory, kept, frame_count * copies_of_a_frame) && good;
    std::printf("every byte is correct: %s\n", good ? "yes" : "no");
    vkDestroyBuffer(on.device, kept.buffer, nullptr);
    memory.ranges.deallocate(kept.range);
    memory.ranges.collect();
    vkFreeMemory(on.device, memory.block, nullptr);
    return good && memory.ranges.usage().largest_free == memory_bytes;
}

int leave_out(const gpu& on, const char* why) {
    std::printf("left out: %s\n", why);
    close(on);
    return left_out;
}

}

int main(int count, char** arguments) {
    const bool must_be_validated = count > 1 && std::strcmp(arguments[1], "--validated") == 0;
    const bool is_validated = layer_is_there();
    gpu on;
    if (must_be_validated && !is_validated) return leave_out(on, "the Vulkan validation layer is not installed");
    if (!open_instance(on, is_validated) || !open_device(on)) return leave_out(on, "no Vulkan device");
    VkCommandPoolCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
    info.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
    info.queueFamilyIndex = on.family;
    VkCommandPool pool = VK_NULL_HANDLE;
    must(vkCreateCommandPool(on.device, &info, nullptr, &pool), "vkCreateCommandPool");
    const bool good = run_frames(on, pool);
    vkDestroyCommandPool(on.device, pool, nullptr);
    close(on);
    std::printf("validation: %s, %d messages\n", is_validated ? "on" : "the layer is not installed", complaints);
    return good && complaints == 0 ? 0 : 1;
}
