// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Vulkan for vulkan_scene: an image that no window shows, a pipeline that draws squares, and one command buffer.

#include <vulkan/vulkan.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "vulkan_scene/nodes.hpp"
#include "vulkan_scene/shaders.hpp"

namespace scene {

inline void must(VkResult result, const char* call) {
    if (result == VK_SUCCESS) return;
    std::fprintf(stderr, "vulkan_scene: %s failed with VkResult %d\n", call, result);
    std::exit(1);
}

class renderer final : public drawing {
public:
    static constexpr std::uint32_t pixels = 512; ///< of each side
    static constexpr const char* layer = "VK_LAYER_KHRONOS_validation";

    /// Messages of the validation layer.
    int complaints = 0;

    [[nodiscard]] static bool layer_is_there() {
        std::uint32_t count = 0;
        must(vkEnumerateInstanceLayerProperties(&count, nullptr), "vkEnumerateInstanceLayerProperties");
        std::vector<VkLayerProperties> layers(count);
        must(vkEnumerateInstanceLayerProperties(&count, layers.data()), "vkEnumerateInstanceLayerProperties");
        return std::any_of(layers.begin(), layers.end(),
                           [](const VkLayerProperties& each) { return std::strcmp(each.layerName, layer) == 0; });
    }

    /// Returns   false when there is no device that draws.
    [[nodiscard]] bool open(bool is_validated) {
        if (!open_instance(is_validated) || !open_device()) return false;
        open_image();
        open_pipeline();
        open_commands();
        return true;
    }

    renderer() = default;
    renderer(const renderer&) = delete;
    renderer& operator=(const renderer&) = delete;
    ~renderer() override {
        if (device_ != VK_NULL_HANDLE) {
            vkDestroyFence(device_, done_, nullptr);
            vkDestroyCommandPool(device_, pool_, nullptr);
            vkDestroyPipeline(device_, pipeline_, nullptr);
            vkDestroyPipelineLayout(device_, layout_, nullptr);
            vkDestroyFramebuffer(device_, framebuffer_, nullptr);
            vkDestroyRenderPass(device_, pass_, nullptr);
            vkDestroyImageView(device_, view_, nullptr);
            vkDestroyImage(device_, image_, nullptr);
            vkFreeMemory(device_, image_memory_, nullptr);
            vkDestroyDevice(device_, nullptr);
        }
        if (messenger_ != VK_NULL_HANDLE)
            function<PFN_vkDestroyDebugUtilsMessengerEXT>("vkDestroyDebugUtilsMessengerEXT")(instance_, messenger_,
                                                                                             nullptr);
        if (instance_ != VK_NULL_HANDLE) vkDestroyInstance(instance_, nullptr);
    }

    [[nodiscard]] const std::string& device_name() const { return name_; }

    /// Begins the commands of a frame. Draws until end_frame() map the view to the whole image.
    void begin_frame(const area& view) {
        shown_ = view;
        draws_ = 0;
        begin_commands();
        VkClearValue black{};
        VkRenderPassBeginInfo begin{};
        begin.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO;
        begin.renderPass = pass_;
        begin.framebuffer = framebuffer_;
        begin.renderArea.extent = {pixels, pixels};
        begin.clearValueCount = 1;
        begin.pClearValues = &black;
        vkCmdBeginRenderPass(commands_, &begin, VK_SUBPASS_CONTENTS_INLINE);
        vkCmdBindPipeline(commands_, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline_);
    }
    void draw(const area& place, const colour& filled) override {
        const float scale = 1 / shown_.half;
        const float side = 2 * place.half * scale;
        const float values[8]{(place.x - place.half - shown_.x) * scale,
                              (place.y - place.half - shown_.y) * scale,
                              side,
                              side,
                              static_cast<float>(filled[0]) / 255,
                              static_cast<float>(filled[1]) / 255,
                              static_cast<float>(filled[2]) / 255,
                              1};
        vkCmdPushConstants(commands_, layout_, VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT, 0,
                           sizeof values, values);
        vkCmdDraw(commands_, 4, 1, 0, 0);
        ++draws_;
    }
    void end_frame() {
        vkCmdEndRenderPass(commands_);
        must(vkEndCommandBuffer(commands_), "vkEndCommandBuffer");
    }
    /// Submits the frame and waits until the device has drawn it.
    void submit() {
        VkSubmitInfo info{};
        info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
        info.commandBufferCount = 1;
        info.pCommandBuffers = &commands_;
        must(vkQueueSubmit(queue_, 1, &info, done_), "vkQueueSubmit");
        must(vkWaitForFences(device_, 1, &done_, VK_TRUE, UINT64_MAX), "vkWaitForFences");
        must(vkResetFences(device_, 1, &done_), "vkResetFences");
    }
    /// Draw commands of the frame that was recorded last.
    [[nodiscard]] std::size_t draws() const { return draws_; }
    /// Reads the image back and counts the pixels that are not black.
    [[nodiscard]] std::size_t filled_pixels();

private:
    template<class Function>
    Function function(const char* name) const {
        return reinterpret_cast<Function>(vkGetInstanceProcAddr(instance_, name));
    }
    static VKAPI_ATTR VkBool32 VKAPI_CALL complain(VkDebugUtilsMessageSeverityFlagBitsEXT,
                                                   VkDebugUtilsMessageTypeFlagsEXT,
                                                   const VkDebugUtilsMessengerCallbackDataEXT* message, void* self) {
        ++static_cast<renderer*>(self)->complaints;
        std::fprintf(stderr, "validation: %s\n", message->pMessage);
        return VK_FALSE;
    }
    bool open_instance(bool is_validated);
    bool open_device();
    void open_image();
    void open_pass();
    void open_pipeline();
    void open_commands();
    [[nodiscard]] VkShaderModule shader(const std::uint32_t* words, std::size_t bytes) const;
    [[nodiscard]] VkDeviceMemory memory_for(const VkMemoryRequirements& needs, VkMemoryPropertyFlags wanted) const;
    void begin_commands() {
        VkCommandBufferBeginInfo begin{};
        begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
        begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
        must(vkBeginCommandBuffer(commands_, &begin), "vkBeginCommandBuffer");
    }

    VkInstance instance_ = VK_NULL_HANDLE;
    VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
    VkPhysicalDevice physical_ = VK_NULL_HANDLE;
    VkDevice device_ = VK_NULL_HANDLE;
    VkQueue queue_ = VK_NULL_HANDLE;
    std::uint32_t family_ = 0;
    std::string name_;
    VkImage image_ = VK_NULL_HANDLE;
    VkDeviceMemory image_memory_ = VK_NULL_HANDLE;
    VkImageView view_ = VK_NULL_HANDLE;
    VkRenderPass pass_ = VK_NULL_HANDLE;
    VkFramebuffer framebuffer_ = VK_NULL_HANDLE;
    VkPipelineLayout layout_ = VK_NULL_HANDLE;
    VkPipeline pipeline_ = VK_NULL_HANDLE;
    VkCommandPool pool_ = VK_NULL_HANDLE;
    VkCommandBuffer commands_ = VK_NULL_HANDLE;
    VkFence done_ = VK_NULL_HANDLE;
    area shown_;
    std::size_t draws_ = 0;
};

}
