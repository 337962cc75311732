#!/usr/bin/env python3
# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT
"""What a release changes, and what it refuses. Nothing is committed, tagged or built."""

import importlib.machinery
import importlib.util
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
loader = importlib.machinery.SourceFileLoader("release", str(ROOT / "scripts/release"))
release = importlib.util.module_from_spec(importlib.util.spec_from_loader("release", loader))
loader.exec_module(release)
NEXT = (0, 2, 0)


class Release(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for name in (release.CONFIG, release.CHANGELOG, release.NATVIS, release.CRATE, release.VCPKG,
                     release.WRAP, "README.md"):
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.root / name)
        shutil.copytree(ROOT / "docs/guide", self.root / "docs/guide")
        config = self.root / release.CONFIG
        text = config.read_text(encoding="utf-8")
        old = release.version_of(text)
        # Whatever today's version is, the test begins with 0.1.0.
        for part, number in zip(("MAJOR", "MINOR", "PATCH"), (0, 1, 0)):
            text = release.re.sub(rf"(#define TENURE_VERSION_{part}) \d+", rf"\1 {number}", text)
        for path in [config, *self.root.glob("**/*.md"), self.root / release.NATVIS]:
            content = text if path == config else path.read_text(encoding="utf-8")
            content = content.replace(f"v{old[0]}_{old[1]}_checks", "v0_1_checks")
            path.write_text(content.replace(f"find_package(tenure {old[0]}.{old[1]}", "find_package(tenure 0.1"), encoding="utf-8")
        self.edit(release.CRATE, lambda text: release.re.sub(r'(?m)^version = ".*"$', 'version = "0.1.0"', text))
        self.edit("docs/guide/install.md", lambda text: text.replace(release.soversion(old), "0.1"))
        self.edit(release.CHANGELOG, lambda text: "# Changelog\n\n## Unreleased\n\n### Added\n\n- A thing.\n")

    def edit(self, name, how):
        path = self.root / name
        path.write_text(how(path.read_text(encoding="utf-8")), encoding="utf-8")

    def changes(self, version=NEXT):
        return {name: after for name, (_, after) in release.changes(self.root, version, "2027-01-31").items()}

    def test_the_version_the_namespace_and_the_documents_change_together(self):
        made = self.changes()
        self.assertEqual(release.version_of(made[release.CONFIG]), NEXT)
        self.assertIn("#    define TENURE_ABI v0_2_checks1\n", made[release.CONFIG])
        self.assertIn('\nversion = "0.2.0"\n', made[release.CRATE])
        self.assertIn('\n  "version": "0.2.0",\n', made[release.VCPKG])
        self.assertIn("\nrevision = v0.2.0\n", made[release.WRAP])
        self.assertIn("`libtenure0.2`", made["docs/guide/install.md"])
        self.assertIn("/libtenure0.2_*.deb", made["docs/guide/install.md"])
        self.assertIn("`libtenure.so.0.2`", made["docs/guide/install.md"])
        self.assertIn("find_package(tenure 0.2 REQUIRED)", made["README.md"])
        self.assertIn("find_package(tenure 0.2 REQUIRED COMPONENTS buffer)", made["docs/guide/vectors.md"])
        for name, text in made.items():
            self.assertNotIn("v0_1_checks", text, name)
            self.assertNotIn("find_package(tenure 0.1", text, name)
        self.assertEqual(made[release.CHANGELOG],
                         "# Changelog\n\n## Unreleased\n\n## 0.2.0 - 2027-01-31\n\n### Added\n\n- A thing.\n")

    def test_a_patch_changes_the_version_the_recipes_and_the_changelog_only(self):
        self.assertEqual(set(self.changes((0, 1, 1))),
                         {release.CONFIG, release.CRATE, release.VCPKG, release.WRAP, release.CHANGELOG})

    def test_what_is_no_release_is_refused(self):
        with self.assertRaisesRegex(release.refused, "0.0.9 is older than 0.1.0"):
            self.changes((0, 0, 9))
        self.edit(release.CHANGELOG, lambda text: text + "\n## 0.2.0 - 2026-01-01\n\n- Another.\n")
        with self.assertRaisesRegex(release.refused, "has a section for 0.2.0"):
            self.changes()
        self.edit(release.CHANGELOG, lambda text: "# Changelog\n\n## Unreleased\n\n## 0.1.0 - 2026-01-01\n\n- Old.\n")
        with self.assertRaisesRegex(release.refused, "nothing to release"):
            self.changes()

    def test_a_dry_run_of_this_tree_writes_nothing(self):
        before = (ROOT / release.CONFIG).read_bytes()
        done = subprocess.run([ROOT / "scripts/release", "9.0.0", "--dry-run"], text=True, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("+#define TENURE_VERSION_MAJOR 9\n", done.stdout)
        self.assertIn("Nothing was written", done.stdout)
        self.assertEqual((ROOT / release.CONFIG).read_bytes(), before)
        for version, said in (("1.2", "three numbers"), ("", "three numbers"), ("0.0.0", "older")):
            wrong = subprocess.run([ROOT / "scripts/release", version, "--dry-run"], text=True, capture_output=True)
            self.assertNotEqual(wrong.returncode, 0)
            self.assertIn(said, wrong.stderr)


if __name__ == "__main__":
    unittest.main()
