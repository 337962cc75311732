# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT
"""What each real program is asked to do: a second or a few of work that allocates, with an answer that is known."""

import os
import re
import socket
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent.parent
MIB = 2**20


def workloads(check, tool, failed, left_out):
    """Name -> function of a session. They raise what the caller gives them."""

    def compiler(session):
        session.run(tool("g++"), "-std=c++20", "-O1", "-pthread", HERE / "heavy.cpp", "-o", "heavy")
        session.expect_served("cc1plus", 8 * MIB)  # trees lie in pages of its own
        session.expect_served("collect2", 1)
        check(session.run("./heavy") == "heavy: 7 layers\n", "the compiled program says something else")
        session.expect_served("heavy", 1)

    def python(session):
        said = session.run(tool("python3"), HERE / "threads.py", environment={"PYTHONMALLOC": "malloc"})
        check(said == "4 threads, 5000 keys each\n", f"python3 said {said}")
        session.expect_served("python3", 8 * MIB)

    def sqlite(session):
        said = session.run(tool("sqlite3"), "work.db", input=(HERE / "queries.sql").read_text())
        check(said.split() == ["200000", "12500", "133334", "133334", "ok"], f"sqlite3 said {said}")
        session.expect_served("sqlite3", 2 * MIB)

    def perl(session):
        said = session.run(tool("perl"), HERE / "words.pl")
        check(said == "50000 keys, 13 pieces, 500000 letters\n", f"perl said {said}")
        session.expect_served("perl", 15 * MIB)

    def git(session):
        if not (ROOT / ".git").exists():
            raise left_out("this tree is no clone")
        git = tool("git")
        session.run(git, "-c", "safe.directory=*", "clone", "--quiet", "--no-local", ROOT, "clone",
                    environment={"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"})
        inside = (git, "-C", "clone")
        session.run(*inside, "repack", "-adfq", "--threads=2")
        session.run(*inside, "fsck", "--full", "--strict")
        check("commit " in session.run(*inside, "log", "-p", "--stat", "-M", "-20"), "git log said nothing")
        for _ in range(3):
            session.run(*inside, "grep", "-c", "tenure", "HEAD")
            session.run(*inside, "blame", "-C", "README.md")
        check(session.run(*inside, "status", "--porcelain") == "", "the clone differs from what was cloned")
        session.expect_served("git", 1 * MIB)

    def redis(session):
        server, bench, command = tool("redis-server"), tool("redis-benchmark"), tool("redis-cli")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = str(probe.getsockname()[1])
        error = (session.folder / "server.err").open("wb")
        process = session.start([server, "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
                                 "--io-threads", "2", "--daemonize", "no"], stdout=error, stderr=error)
        ask = (command, "-p", port)
        try:
            for _ in range(200):
                time.sleep(0.05)
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", int(port))) == 0:
                        break
            session.expect_mapped(process.pid)
            session.run(bench, "-p", port, "-q", "-n", "20000", "-c", "20", "-P", "16", "-r", "100000", "-d", "200",
                        "-t", "set,get,lpush,lpop,sadd,hset,zadd,mset")
            session.run(*ask, "debug", "reload", "nosave", "noflush")
            check(int(session.run(*ask, "dbsize")) > 10_000, "the server has few keys")
            session.run(*ask, "bgsave")  # a child of fork() while threads run
            for _ in range(200):
                if "rdb_bgsave_in_progress:0" in session.run(*ask, "info", "persistence"):
                    break
                time.sleep(0.05)
            check("rdb_last_bgsave_status:ok" in session.run(*ask, "info", "persistence"), "the child did not save")
            session.run(*ask, "shutdown", "nosave")
            check(session.wait(process, 20) == 0, "the server did not end well")
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
            error.close()
        session.note((session.folder / "server.err").read_text(errors="replace"))
        session.expect_served("redis-server", 10 * MIB)

    def java(session):
        compiler, machine = tool("javac"), tool("java")
        session.run(compiler, "-d", ".", HERE / "Work.java")
        said = session.run(machine, "-XX:+UseParallelGC", "-Xmx256m", "-cp", ".", "Work")
        check(said == "4 threads, 400000 entries, deflated and back\n", f"java said {said}")
        session.expect_served("java", 4 * MIB)

    def node(session):
        said = session.run(tool("node"), HERE / "work.js")
        check(said == "200 buffers, 300000 entries, 4 workers\n", f"node said {said}")
        session.expect_served("node", 20 * MIB)

    def dotnet(session):
        command = tool("dotnet")
        if not session.run(command, "--list-sdks").strip():
            raise left_out("there is no .NET SDK")
        version = re.match(r"(\d+)\.", session.run(command, "--version"))[1]
        project = (HERE / "app.csproj").read_text().replace("@VERSION@", version)
        (session.folder / "app.csproj").write_text(project)
        (session.folder / "Program.cs").write_text((HERE / "Program.cs").read_text())
        (session.folder / "nuget.config").write_text(
            "<configuration><packageSources><clear /></packageSources></configuration>\n")
        quiet = {"DOTNET_CLI_TELEMETRY_OPTOUT": "1", "DOTNET_NOLOGO": "1", "DOTNET_SKIP_FIRST_TIME_EXPERIENCE": "1",
                 "DOTNET_CLI_HOME": str(session.folder), "MSBUILDDISABLENODEREUSE": "1"}
        session.run(command, "build", "-c", "Release", "--disable-build-servers", "-v", "quiet", environment=quiet,
                    proof="maps")
        built = next((session.folder / "bin").rglob("app.dll"))
        said = session.run(command, built, environment=quiet)
        check(said == "4 threads, 200000 native blocks\n", f"dotnet said {said}")
        session.expect_served("dotnet", 8 * MIB)

    def own_tests(session):
        # One wants glibc's own report of a double free, one that malloc keeps nothing of what is freed, some compare all
        # that is written at the end with nothing, where the drop-in writes its report, and some change the process heap
        # for all that come after them: ctest runs each in a process of its own.
        others = ("passthrough_blocks.other_pointers_are_left_to_malloc",
                  "block_pool_trim.memory_really_leaves_the_process", "leak_check*", "heap_passthrough.*")
        ran = 0
        for name in ("base", "platform", "engine", "arena", "adapt", "pool", "lifetime", "heap"):
            for kind in ("test", "thread_test"):
                path = Path(session.build).resolve() / "tests" / f"{name}_{kind}"
                if not path.exists():
                    continue
                session.run(path, "--gtest_brief=1", f"--gtest_filter=-{':'.join(others)}")
                session.expect_served(path.name, 1)
                ran += 1
        if not ran:
            raise left_out("the tests are not built")

    def shell(session):
        script = "for i in $(seq 300); do x=$(echo $i | tr 0-9 a-j | sort | uniq -c | cut -c 1-40); done; echo $x"
        check(session.run(tool("bash"), "-c", script) == "1 daa\n", "the shell said something else")
        for name in ("bash", "sort", "uniq", "tr"):
            session.expect_served(name, 1)

    return {"g++": compiler, "python3": python, "sqlite3": sqlite, "perl": perl, "git": git, "redis-server": redis,
            "java": java, "node": node, "dotnet build": dotnet, "shell": shell, "this project's tests": own_tests}
