// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

// usage: observed heard|heard_without_frames|heard_as_first|unheard    a program whose scopes a listener hears, hears
//                                            without what came later, or does not hear
//
// Linked to the library in both forms, position-independent and not.

#include <cstdio>
#include <string>
#include <string_view>
#include <thread>

#include <tenure/base/no_alloc.hpp>
#include <tenure/base/no_wait.hpp>
#include <tenure/base/region.hpp>
#include <tenure/base/report.hpp>
#include <tenure/heap/heap.hpp>
#include <tenure/lifetime/lifetime.hpp>
#include <tenure/lifetime/temp.hpp>
#include <tenure/tenure.h>

#include "listener.hpp"

namespace {

bool is_heard = false, is_first = false, hears_frames = false;
int failures = 0;

void expect(const char* what, std::string_view wanted) {
    const std::string heard = listener_heard();
    listener_forget();
    if (heard == (is_heard ? wanted : "")) return;
    std::fprintf(stderr, "%s: heard \"%s\" and not \"%.*s\"\n", what, heard.c_str(), static_cast<int>(wanted.size()),
                 wanted.data());
    ++failures;
}

void mark_regions() {
    {
        const tenure::region_scope frame("frame");
        tenure::mark("begun");
        const tenure::region_scope part(std::string_view("physics and more", 7));
    }
    expect("regions", "r(frame)m(begun)r(physics)RR");
    tn_region_begin("of C", 4);
    tn_mark(nullptr, 0);
    tn_region_end();
    expect("regions of C", "r(of C)m()R");
}

void promise() {
    {
        const tenure::no_alloc_scope outer;
        const tenure::allow_alloc_scope permission;
        const tenure::no_alloc_scope inner;
    }
    expect("promises", "nanNN");
    tn_no_alloc_begin();
    tn_allow_alloc_begin();
    tn_allow_alloc_end();
    tn_no_alloc_end();
    expect("promises of C", "naN");
}

/// A listener of the first functions hears a promise not to allocate, which it is too.
void promise_not_to_wait() {
    {
        const tenure::no_wait_scope outer;
        const tenure::no_alloc_scope inner;
        const tenure::allow_alloc_scope permission;
    }
    expect("a promise not to wait", is_first ? "nnaNN" : "wnaNW");
    tn_no_wait_begin();
    tn_no_wait_end();
    expect("a promise not to wait, of C", is_first ? "nN" : "wW");
}

/// A frame ends after everything that ends with it.
void end_frames() {
    tenure::mark("first");
    tenure::next_frame();
    tn_next_frame();
    expect("frames", hears_frames ? "m(first)ff" : "m(first)");
    std::thread([] { tenure::next_frame(); }).join();
    expect("a frame on a thread without scopes", hears_frames ? "f" : "");
}

void promise_on_another_thread() {
    std::thread([] {
        const tenure::no_alloc_scope promise;
        const tenure::region_scope region("job");
    }).join();
    expect("another thread", "nr(job)RN");
}

/// An end without a begin is nobody's business but the caller's.
void end_too_much() {
    const tenure::report_handler former =
        tenure::set_report_handler([](tenure::report_kind, std::string_view) noexcept {});
    tn_region_end();
    tn_no_alloc_end();
    tn_no_wait_end();
    tn_allow_alloc_end();
    expect("ends without a begin", "");
    tenure::set_report_handler(former);
}

/// In checked builds a report is permitted to allocate, and so is the call that was reported; a thread's first use of
/// Temp takes what it needs.
void break_promise() {
    tenure::heap::process().deallocate(tenure::heap::process().allocate(10)); // the thread's first use
    const tenure::report_handler former =
        tenure::set_report_handler([](tenure::report_kind, std::string_view) noexcept { tenure::mark("report"); });
    {
        const tenure::no_alloc_scope promise;
        tenure::heap::process().deallocate(tenure::heap::process().allocate(10));
    }
    expect("a broken promise", tenure::checks::caller ? "nam(report)N" : "nN");
    tenure::set_report_handler(former);
    std::thread([] {
        const tenure::no_alloc_scope promise;
        const tenure::temp_scope first;
    }).join();
    expect("a first use", tenure::checks::caller ? "naN" : "nN");
}

}

int main(int, char** arguments) {
    const std::string_view wanted = arguments[1];
    is_first = wanted == "heard_as_first";
    hears_frames = wanted == "heard";
    is_heard = is_first || hears_frames || wanted == "heard_without_frames";
    mark_regions();
    promise();
    promise_not_to_wait();
    end_frames();
    promise_on_another_thread();
    end_too_much();
    break_promise();
    return failures == 0 ? 0 : 1;
}
