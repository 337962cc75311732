// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

#include "vulkan_scene/renderer.hpp"

namespace scene {

namespace {

constexpr VkFormat format = VK_FORMAT_R8G8B8A8_UNORM;

}

bool renderer::open_instance(bool is_validated) {
    VkDebugUtilsMessengerCreateInfoEXT ear{};
    ear.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT;
    ear.messageSeverity =
        VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
    ear.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
    ear.pfnUserCallback = complain;
    ear.pUserData = this;
    const char* const extension = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
    VkApplicationInfo program{};
    program.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
    program.apiVersion = VK_API_VERSION_1_0;
    VkInstanceCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
    info.pApplicationInfo = &program;
    const char* const layers = layer;
    if (is_validated) {
        info.pNext = &ear;
        info.enabledLayerCount = info.enabledExtensionCount = 1;
        info.ppEnabledLayerNames = &layers;
        info.ppEnabledExtensionNames = &extension;
    }
    if (vkCreateInstance(&info, nullptr, &instance_) != VK_SUCCESS) return false;
    if (!is_validated) return true;
    const auto create = function<PFN_vkCreateDebugUtilsMessengerEXT>("vkCreateDebugUtilsMessengerEXT");
    must(create(instance_, &ear, nullptr, &messenger_), "vkCreateDebugUtilsMessengerEXT");
    return true;
}

/// Opens the first device if it has a queue that draws.
bool renderer::open_device() {
    std::uint32_t count = 0;
    if (vkEnumeratePhysicalDevices(instance_, &count, nullptr) != VK_SUCCESS || count == 0) return false;
    std::vector<VkPhysicalDevice> devices(count);
    must(vkEnumeratePhysicalDevices(instance_, &count, devices.data()), "vkEnumeratePhysicalDevices");
    physical_ = devices[0];
    VkPhysicalDeviceProperties about{};
    vkGetPhysicalDeviceProperties(physical_, &about);
    name_ = about.deviceName;
    std::uint32_t families = 0;
    vkGetPhysicalDeviceQueueFamilyProperties(physical_, &families, nullptr);
    std::vector<VkQueueFamilyProperties> queues(families);
    vkGetPhysicalDeviceQueueFamilyProperties(physical_, &families, queues.data());
    while (family_ < families && (queues[family_].queueFlags & VK_QUEUE_GRAPHICS_BIT) == 0) ++family_;
    if (family_ == families) return false;
    const float priority = 1;
    VkDeviceQueueCreateInfo queue{};
    queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
    queue.queueFamilyIndex = family_;
    queue.queueCount = 1;
    queue.pQueuePriorities = &priority;
    VkDeviceCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
    info.queueCreateInfoCount = 1;
    info.pQueueCreateInfos = &queue;
    must(vkCreateDevice(physical_, &info, nullptr, &device_), "vkCreateDevice");
    vkGetDeviceQueue(device_, family_, 0, &queue_);
    return true;
}

VkDeviceMemory renderer::memory_for(const VkMemoryRequirements& needs, VkMemoryPropertyFlags wanted) const {
    VkPhysicalDeviceMemoryProperties types{};
    vkGetPhysicalDeviceMemoryProperties(physical_, &types);
    VkMemoryAllocateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
    info.allocationSize = needs.size;
    while ((needs.memoryTypeBits >> info.memoryTypeIndex & 1) == 0 ||
           (types.memoryTypes[info.memoryTypeIndex].propertyFlags & wanted) != wanted)
        ++info.memoryTypeIndex; // Vulkan guarantees that one exists
    VkDeviceMemory made = VK_NULL_HANDLE;
    must(vkAllocateMemory(device_, &info, nullptr, &made), "vkAllocateMemory");
    return made;
}

void renderer::open_image() {
    VkImageCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO;
    info.imageType = VK_IMAGE_TYPE_2D;
    info.format = format;
    info.extent = {pixels, pixels, 1};
    info.mipLevels = info.arrayLayers = 1;
    info.samples = VK_SAMPLE_COUNT_1_BIT;
    info.usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
    must(vkCreateImage(device_, &info, nullptr, &image_), "vkCreateImage");
    VkMemoryRequirements needs{};
    vkGetImageMemoryRequirements(device_, image_, &needs);
    image_memory_ = memory_for(needs, 0);
    must(vkBindImageMemory(device_, image_, image_memory_, 0), "vkBindImageMemory");
    VkImageViewCreateInfo view{};
    view.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO;
    view.image = image_;
    view.viewType = VK_IMAGE_VIEW_TYPE_2D;
    view.format = format;
    view.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    must(vkCreateImageView(device_, &view, nullptr, &view_), "vkCreateImageView");
    open_pass();
    VkFramebufferCreateInfo frame{};
    frame.sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO;
    frame.renderPass = pass_;
    frame.attachmentCount = 1;
    frame.pAttachments = &view_;
    frame.width = frame.height = pixels;
    frame.layers = 1;
    must(vkCreateFramebuffer(device_, &frame, nullptr, &framebuffer_), "vkCreateFramebuffer");
}

/// Clears the image, draws, and leaves it ready to be copied.
void renderer::open_pass() {
    VkAttachmentDescription target{};
    target.format = format;
    target.samples = VK_SAMPLE_COUNT_1_BIT;
    target.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR;
    target.storeOp = VK_ATTACHMENT_STORE_OP_STORE;
    target.stencilLoadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE;
    target.stencilStoreOp = VK_ATTACHMENT_STORE_OP_DONT_CARE;
    target.finalLayout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
    const VkAttachmentReference first{0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
    VkSubpassDescription draws{};
    draws.pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS;
    draws.colorAttachmentCount = 1;
    draws.pColorAttachments = &first;
    VkSubpassDependency copied{};
    copied.dstSubpass = VK_SUBPASS_EXTERNAL;
    copied.srcStageMask = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT;
    copied.dstStageMask = VK_PIPELINE_STAGE_TRANSFER_BIT;
    copied.srcAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT;
    copied.dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT;
    VkRenderPassCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO;
    info.attachmentCount = info.subpassCount = info.dependencyCount = 1;
    info.pAttachments = &target;
    info.pSubpasses = &draws;
    info.pDependencies = &copied;
    must(vkCreateRenderPass(device_, &info, nullptr, &pass_), "vkCreateRenderPass");
}

VkShaderModule renderer::shader(const std::uint32_t* words, std::size_t bytes) const {
    VkShaderModuleCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
    info.codeSize = bytes;
    info.pCode = words;
    VkShaderModule made = VK_NULL_HANDLE;
    must(vkCreateShaderModule(device_, &info, nullptr, &made), "vkCreateShaderModule");
    return made;
}

void renderer::open_pipeline() {
    const VkPushConstantRange values{VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT, 0, 8 * sizeof(float)};
    VkPipelineLayoutCreateInfo layout{};
    layout.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
    layout.pushConstantRangeCount = 1;
    layout.pPushConstantRanges = &values;
    must(vkCreatePipelineLayout(device_, &layout, nullptr, &layout_), "vkCreatePipelineLayout");

    VkPipelineShaderStageCreateInfo stages[2]{};
    for (VkPipelineShaderStageCreateInfo& each : stages) {
        each.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
        each.pName = "main";
    }
    stages[0].stage = VK_SHADER_STAGE_VERTEX_BIT;
    stages[0].module = shader(vertex_shader, sizeof vertex_shader);
    stages[1].stage = VK_SHADER_STAGE_FRAGMENT_BIT;
    stages[1].module = shader(fragment_shader, sizeof fragment_shader);
    VkPipelineVertexInputStateCreateInfo input{}; // none: a vertex is a number
    input.sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO;
    VkPipelineInputAssemblyStateCreateInfo assembly{};
    assembly.sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO;
    assembly.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP;
    const VkViewport whole{0, 0, pixels, pixels, 0, 1};
    const VkRect2D all{{0, 0}, {pixels, pixels}};
    VkPipelineViewportStateCreateInfo viewport{};
    viewport.sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO;
    viewport.viewportCount = viewport.scissorCount = 1;
    viewport.pViewports = &whole;
    viewport.pScissors = &all;
    VkPipelineRasterizationStateCreateInfo raster{};
    raster.sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO;
    raster.lineWidth = 1;
    VkPipelineMultisampleStateCreateInfo samples{};
    samples.sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO;
    samples.rasterizationSamples = VK_SAMPLE_COUNT_1_BIT;
    VkPipelineColorBlendAttachmentState plain{};
    plain.colorWriteMask =
        VK_COLOR_COMPONENT_R_BIT | VK_COLOR_COMPONENT_G_BIT | VK_COLOR_COMPONENT_B_BIT | VK_COLOR_COMPONENT_A_BIT;
    VkPipelineColorBlendStateCreateInfo blend{};
    blend.sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO;
    blend.attachmentCount = 1;
    blend.pAttachments = &plain;
    VkGraphicsPipelineCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO;
    info.stageCount = 2;
    info.pStages = stages;
    info.pVertexInputState = &input;
    info.pInputAssemblyState = &assembly;
    info.pViewportState = &viewport;
    info.pRasterizationState = &raster;
    info.pMultisampleState = &samples;
    info.pColorBlendState = &blend;
    info.layout = layout_;
    info.renderPass = pass_;
    must(vkCreateGraphicsPipelines(device_, VK_NULL_HANDLE, 1, &info, nullptr, &pipeline_),
         "vkCreateGraphicsPipelines");
    for (const VkPipelineShaderStageCreateInfo& each : stages) vkDestroyShaderModule(device_, each.module, nullptr);
}

void renderer::open_commands() {
    VkCommandPoolCreateInfo pool{};
    pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
    pool.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
    pool.queueFamilyIndex = family_;
    must(vkCreateCommandPool(device_, &pool, nullptr, &pool_), "vkCreateCommandPool");
    VkCommandBufferAllocateInfo commands{};
    commands.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
    commands.commandPool = pool_;
    commands.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    commands.commandBufferCount = 1;
    must(vkAllocateCommandBuffers(device_, &commands, &commands_), "vkAllocateCommandBuffers");
    VkFenceCreateInfo fence{};
    fence.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO;
    must(vkCreateFence(device_, &fence, nullptr, &done_), "vkCreateFence");
}

std::size_t renderer::filled_pixels() {
    VkBufferCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
    info.size = VkDeviceSize{pixels} * pixels * 4;
    info.usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    VkBuffer buffer = VK_NULL_HANDLE;
    must(vkCreateBuffer(device_, &info, nullptr, &buffer), "vkCreateBuffer");
    VkMemoryRequirements needs{};
    vkGetBufferMemoryRequirements(device_, buffer, &needs);
    const VkDeviceMemory memory =
        memory_for(needs, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
    must(vkBindBufferMemory(device_, buffer, memory, 0), "vkBindBufferMemory");
    begin_commands();
    VkBufferImageCopy whole{};
    whole.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
    whole.imageExtent = {pixels, pixels, 1};
    vkCmdCopyImageToBuffer(commands_, image_, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, buffer, 1, &whole);
    VkMemoryBarrier readable{};
    readable.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
    readable.srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
    readable.dstAccessMask = VK_ACCESS_HOST_READ_BIT;
    vkCmdPipelineBarrier(commands_, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &readable, 0,
                         nullptr, 0, nullptr);
    must(vkEndCommandBuffer(commands_), "vkEndCommandBuffer");
    submit();
    void* mapped = nullptr;
    must(vkMapMemory(device_, memory, 0, VK_WHOLE_SIZE, 0, &mapped), "vkMapMemory");
    const auto* const bytes = static_cast<const unsigned char*>(mapped);
    std::size_t filled = 0;
    for (std::size_t pixel = 0; pixel < std::size_t{pixels} * pixels; ++pixel)
        filled += static_cast<std::size_t>(bytes[pixel * 4] + bytes[pixel * 4 + 1] + bytes[pixel * 4 + 2] != 0);
    vkUnmapMemory(device_, memory);
    vkDestroyBuffer(device_, buffer, nullptr);
    vkFreeMemory(device_, memory, nullptr);
    return filled;
}

}
