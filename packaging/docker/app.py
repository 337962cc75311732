# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT
"""Stands for a server in Python: threads parse documents, and a few of each request stay.

Prints the peak of resident memory and what is resident two seconds after the last request.
"""

import json
import sys
import threading
import time

THREADS, REQUESTS, RECORDS = 4, int(sys.argv[1]) if len(sys.argv) > 1 else 40, 4000
document = json.dumps([{"id": n, "name": f"record {n}", "tags": [f"tag {n % 7}", f"tag {n % 11}"]} for n in range(RECORDS)])
kept = []


def resident_mib(name):
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(name)) / 1024


def serve(number):
    for request in range(REQUESTS):
        batch = [json.loads(document) for _ in range(4)]
        kept.extend(records[(number * 31 + request) % RECORDS] for records in batch)


started = time.monotonic()
servers = [threading.Thread(target=serve, args=(number,)) for number in range(THREADS)]
for server in servers:
    server.start()
for server in servers:
    server.join()
seconds = time.monotonic() - started
time.sleep(2)
print(f"{seconds:.1f} s, peak {resident_mib('VmHWM'):.0f} MiB, afterwards {resident_mib('VmRSS'):.0f} MiB, {len(kept)} records kept")
