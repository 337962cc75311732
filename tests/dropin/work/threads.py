# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT

import json
import threading
import zlib

found = []


def work(number):
    kept = {}
    for i in range(40_000):
        kept[i % 5000] = [str(i)] * (i % 17) + [i, number]
        if i % 2000 == 0:
            text = json.dumps({str(key): value for key, value in list(kept.items())[:300]})
            assert json.loads(zlib.decompress(zlib.compress(text.encode()))) == json.loads(text)
    found.append(len(kept))


threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
for each in threads:
    each.start()
for each in threads:
    each.join()
print(f"{len(found)} threads, {found[0]} keys each")
