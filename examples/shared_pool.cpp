// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// One thread constructs messages and another destroys them. The common call takes no lock, and no block is lost when a
// thread ends.

#include <atomic>
#include <cstdio>
#include <thread>

#include <tenure/pool/shared_pool.hpp>

namespace {

struct message {
    message(int sent, message* older) : number(sent), next(older) {}
    int number;
    message* next;
};

constexpr int message_count = 100'000;

/// A stack. Producers push to it, and the consumer takes all of it at once.
std::atomic<message*> mailbox{nullptr};

void produce(tenure::shared_pool<message>& messages) {
    for (int number = 0; number < message_count; ++number) {
        message* const made = messages.construct(number, mailbox.load());
        if (made == nullptr) return;
        while (!mailbox.compare_exchange_weak(made->next, made)) {}
    }
}

int consume(tenure::shared_pool<message>& messages) {
    int received = 0;
    while (received < message_count) {
        message* each = mailbox.exchange(nullptr);
        if (each == nullptr) std::this_thread::yield();
        while (each != nullptr) {
            message* const next = each->next;
            messages.destroy(each); // another thread constructed it
            ++received;
            each = next;
        }
    }
    return received;
}

}

int main() {
    tenure::shared_pool<message> messages;
    std::thread producer([&messages] { produce(messages); });
    const int received = consume(messages);
    producer.join();
    std::printf("received: %d, alive: %zu\n", received, messages.size());
    return messages.size() == 0 ? 0 : 1;
}
