// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Runtime.Loader;
using Xunit;

namespace Tenure.Tests;

/// <summary>Every change of what the libraries promise is a change of a file: PublicSurface.txt beside each
/// project.</summary>
public sealed class PublicSurfaceTests
{
    private const string Update = "UPDATE_PUBLIC_SURFACE";
    private static readonly string[] Frameworks = ["net10.0", "net8.0"];

    [Theory]
    [InlineData("Tenure")]
    [InlineData("Tenure.Jemalloc")]
    public void the_public_surface_is_what_its_file_says(string library)
    {
        string path = Path.Combine(Metadata("SourceFolder"), library, "PublicSurface.txt");
        string[] found = Lines(library);
        if (Environment.GetEnvironmentVariable(Update) == "1")
        {
            Assert.False(Environment.GetEnvironmentVariable("CI") == "true", Update + " is set where nobody reads the diff.");
            File.WriteAllText(path, string.Concat(found.Select(line => line + "\n")));
            Assert.Skip(path + " was written, not compared.");
        }
        string[] wanted = File.Exists(path) ? File.ReadAllLines(path) : [];
        string[] gone = [.. wanted.Except(found).Select(line => "- " + line)], added = [.. found.Except(wanted).Select(line => "+ " + line)];
        Assert.True(gone.Length + added.Length == 0,
            $"The public surface of {library} changed. If that is meant: {Update}=1 scripts/test_dotnet tests\n"
            + string.Join("\n", gone.Concat(added)));
        Assert.Equal(wanted, found);
    }

    /// <summary>One line per member; with the framework before it where the other one lacks it.</summary>
    private static string[] Lines(string library)
    {
        var frameworksOf = new Dictionary<string, List<string>>();
        foreach (string framework in Frameworks)
        {
            string folder = $"{Metadata("BuildConfiguration")}_{framework}";
            // Apart from the one that the tests refer to: two assemblies of one name cannot be loaded together.
            var context = new AssemblyLoadContext(framework, isCollectible: false);
            context.Resolving += (_, name) =>
            {
                string neighbour = Path.Combine(Metadata("BuildFolder"), name.Name!, folder, name.Name + ".dll");
                return File.Exists(neighbour) ? context.LoadFromAssemblyPath(Path.GetFullPath(neighbour)) : null;
            };
            Assembly assembly = context.LoadFromAssemblyPath(
                Path.GetFullPath(Path.Combine(Metadata("BuildFolder"), library, folder, library + ".dll")));
            foreach (string line in Surface.Of(assembly).Distinct())
            {
                if (!frameworksOf.TryGetValue(line, out List<string>? frameworks))
                {
                    frameworksOf[line] = frameworks = [];
                }
                frameworks.Add(framework);
            }
        }
        return [.. frameworksOf
            .Select(entry => entry.Value.Count == Frameworks.Length ? entry.Key : $"{entry.Key}    [{string.Join(", ", entry.Value)} only]")
            .Order(StringComparer.Ordinal)];
    }

    private static string Metadata(string key) => typeof(PublicSurfaceTests).Assembly
        .GetCustomAttributes<AssemblyMetadataAttribute>().First(attribute => attribute.Key == key).Value!;
}
