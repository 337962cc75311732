// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Reflection;
using System.Runtime.CompilerServices;

namespace Tenure.Tests;

/// <summary>What an assembly promises: one line for each public or protected type and member, as C# would declare
/// it.</summary>
internal static class Surface
{
    private const BindingFlags Declared =
        BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Instance | BindingFlags.Static | BindingFlags.DeclaredOnly;

    internal static IEnumerable<string> Of(Assembly assembly) => assembly.GetTypes().Where(IsVisible).SelectMany(Lines);

    private static bool IsVisible(Type type) => type.IsNested
        ? (type.IsNestedPublic || type.IsNestedFamily || type.IsNestedFamORAssem) && IsVisible(type.DeclaringType!)
        : type.IsPublic;

    private static bool IsVisible(MethodBase? method) =>
        method is not null && (method.IsPublic || method.IsFamily || method.IsFamilyOrAssembly);

    private static IEnumerable<string> Lines(Type type)
    {
        string name = Name(type);
        yield return Attributes(type) + Kind(type) + name + Bases(type) + Constraints(type.GetGenericArguments());
        if (typeof(Delegate).IsAssignableFrom(type))
        {
            MethodInfo invoke = type.GetMethod("Invoke")!;
            yield return $"{name}({Parameters(invoke)}) -> {Return(invoke)}";
            yield break;
        }
        foreach (FieldInfo field in type.GetFields(Declared).Where(f => (f.IsPublic || f.IsFamily || f.IsFamilyOrAssembly) && !f.IsSpecialName))
        {
            string value = field.IsLiteral ? " = " + Value(field.GetRawConstantValue()) : "";
            yield return $"{Attributes(field)}{name}.{field.Name}{value} -> "
                + (field.IsLiteral ? "const " : (field.IsStatic ? "static " : "") + (field.IsInitOnly ? "readonly " : "")) + Name(field.FieldType);
        }
        foreach (ConstructorInfo constructor in type.GetConstructors(Declared).Where(c => IsVisible(c) && !c.IsStatic))
        {
            yield return $"{Attributes(constructor)}{Access(constructor)}{name}({Parameters(constructor)})";
        }
        foreach (PropertyInfo property in type.GetProperties(Declared))
        {
            foreach (MethodInfo accessor in property.GetAccessors(nonPublic: true).Where(IsVisible))
            {
                bool reads = accessor == property.GetMethod;
                bool once = accessor.ReturnParameter.GetRequiredCustomModifiers().Any(m => m.Name == "IsExternalInit");
                yield return $"{Attributes(property)}{Modifiers(accessor)}{name}.{property.Name}"
                    + (property.GetIndexParameters().Length > 0 ? $"[{Parameters(property.GetMethod ?? accessor)}]" : "")
                    + (reads ? " { get; }" : once ? " { init; }" : " { set; }") + " -> "
                    + (reads ? Return(accessor) : Name(property.PropertyType));
            }
        }
        foreach (EventInfo happening in type.GetEvents(Declared).Where(e => IsVisible(e.AddMethod)))
        {
            yield return $"{Attributes(happening)}event {Modifiers(happening.AddMethod!)}{name}.{happening.Name} -> {Name(happening.EventHandlerType!)}";
        }
        foreach (MethodInfo method in type.GetMethods(Declared).Where(IsVisible))
        {
            if (!method.IsSpecialName || method.Name.StartsWith("op_", StringComparison.Ordinal))
            {
                yield return $"{Attributes(method)}{Modifiers(method)}{name}.{method.Name}{Arguments(method.GetGenericArguments())}"
                    + $"({Parameters(method)}) -> {Return(method)}{Constraints(method.GetGenericArguments())}";
            }
        }
    }

    /// <summary>Older compilers are kept off ref structs by the same attribute, which is not meant here.</summary>
    private static string Attributes(MemberInfo member) =>
        member.IsDefined(typeof(ObsoleteAttribute), false) && member is not Type { IsByRefLike: true } ? "[Obsolete] " : "";

    private static string Kind(Type type) =>
        type.IsEnum ? $"enum {Name(Enum.GetUnderlyingType(type))} "
        : typeof(Delegate).IsAssignableFrom(type) ? "delegate "
        : type.IsInterface ? "interface "
        : type.IsValueType ? (IsReadOnly(type) ? "readonly " : "") + (type.IsByRefLike ? "ref " : "") + "struct "
        : type.IsAbstract && type.IsSealed ? "static class "
        : (type.IsAbstract ? "abstract " : type.IsSealed ? "sealed " : "") + "class ";

    private static bool IsReadOnly(Type type) => type.IsDefined(typeof(IsReadOnlyAttribute), false);

    private static string Bases(Type type)
    {
        if (type.IsEnum || typeof(Delegate).IsAssignableFrom(type))
        {
            return "";
        }
        var bases = new List<string>();
        if (type.BaseType is { } parent && parent != typeof(object) && parent != typeof(ValueType))
        {
            bases.Add(Name(parent));
        }
        bases.AddRange(type.GetInterfaces().Where(i => i.IsVisible).Select(Name).Order(StringComparer.Ordinal));
        return bases.Count == 0 ? "" : " : " + string.Join(", ", bases);
    }

    private static string Access(MethodBase method) => method.IsPublic ? "" : "protected ";

    private static string Modifiers(MethodInfo method) => Access(method)
        + (method.IsStatic ? "static " : "")
        + (method.DeclaringType!.IsInterface ? ""
            : method.IsAbstract ? "abstract "
            : method.IsVirtual && method.GetBaseDefinition() != method ? (method.IsFinal ? "sealed override " : "override ")
            : method.IsVirtual && !method.IsFinal ? "virtual " : "");

    private static string Return(MethodInfo method) =>
        (method.ReturnType.IsByRef && method.ReturnParameter.IsDefined(typeof(IsReadOnlyAttribute), false) ? "readonly " : "")
        + Name(method.ReturnType);

    private static string Parameters(MethodBase method) => string.Join(", ", method.GetParameters().Select(Parameter));

    private static string Parameter(ParameterInfo parameter)
    {
        string prefix = parameter.IsDefined(typeof(ParamArrayAttribute), false) || parameter.IsDefined(typeof(ParamCollectionAttribute), false)
            ? "params " : "";
        Type type = parameter.ParameterType;
        string passed = !type.IsByRef ? "" : parameter.IsOut ? "out " : parameter.IsIn ? "in " : "ref ";
        string name = type.IsByRef ? passed + Name(type.GetElementType()!) : Name(type);
        return $"{prefix}{name} {parameter.Name}" + (parameter.HasDefaultValue ? " = " + Value(parameter.RawDefaultValue) : "");
    }

    private static string Value(object? value) => value switch
    {
        null => "null",
        string text => $"\"{text}\"",
        bool truth => truth ? "true" : "false",
        _ => Convert.ToString(value, CultureInfo.InvariantCulture)!,
    };

    private static string Arguments(Type[] arguments) => arguments.Length == 0 ? "" : $"<{string.Join(", ", arguments.Select(Name))}>";

    private static string Constraints(Type[] arguments)
    {
        var all = new List<string>();
        foreach (Type argument in arguments.Where(a => a.IsGenericParameter))
        {
            GenericParameterAttributes flags = argument.GenericParameterAttributes;
            bool unmanaged = argument.IsDefined(typeof(IsUnmanagedAttribute), false);
            var parts = new List<string>();
            if (unmanaged)
            {
                parts.Add("unmanaged");
            }
            else if (flags.HasFlag(GenericParameterAttributes.NotNullableValueTypeConstraint))
            {
                parts.Add("struct");
            }
            if (flags.HasFlag(GenericParameterAttributes.ReferenceTypeConstraint))
            {
                parts.Add("class");
            }
            parts.AddRange(argument.GetGenericParameterConstraints().Where(c => c != typeof(ValueType)).Select(Name).Order(StringComparer.Ordinal));
            if (flags.HasFlag(GenericParameterAttributes.DefaultConstructorConstraint)
                && !flags.HasFlag(GenericParameterAttributes.NotNullableValueTypeConstraint))
            {
                parts.Add("new()");
            }
            if (((int)flags & 0x20) != 0)
            {
                parts.Add("allows ref struct");
            }
            if (parts.Count > 0)
            {
                all.Add($" where {argument.Name} : {string.Join(", ", parts)}");
            }
        }
        return string.Concat(all);
    }

    private static readonly Dictionary<Type, string> Keywords = new()
    {
        [typeof(void)] = "void", [typeof(bool)] = "bool", [typeof(char)] = "char", [typeof(string)] = "string", [typeof(object)] = "object",
        [typeof(sbyte)] = "sbyte", [typeof(byte)] = "byte", [typeof(short)] = "short", [typeof(ushort)] = "ushort", [typeof(int)] = "int",
        [typeof(uint)] = "uint", [typeof(long)] = "long", [typeof(ulong)] = "ulong", [typeof(nint)] = "nint", [typeof(nuint)] = "nuint",
        [typeof(float)] = "float", [typeof(double)] = "double", [typeof(decimal)] = "decimal",
    };

    private static string Name(Type type)
    {
        if (Keywords.TryGetValue(type, out string? keyword))
        {
            return keyword;
        }
        if (type.IsByRef || type.IsPointer || type.IsArray)
        {
            string element = Name(type.GetElementType()!);
            return type.IsByRef ? "ref " + element : type.IsPointer ? element + "*" : $"{element}[{new string(',', type.GetArrayRank() - 1)}]";
        }
        if (type.IsFunctionPointer)
        {
            IEnumerable<Type> signature = type.GetFunctionPointerParameterTypes().Append(type.GetFunctionPointerReturnType());
            return $"delegate* {(type.IsUnmanagedFunctionPointer ? "unmanaged" : "")}<{string.Join(", ", signature.Select(Name))}>";
        }
        if (type.IsGenericParameter)
        {
            return type.Name;
        }
        string plain = type.Name.Split('`')[0];
        int outer = type.DeclaringType?.GetGenericArguments().Length ?? 0;
        Type[] arguments = type.GetGenericArguments();
        string prefix = type.DeclaringType is { } declaring
            ? Name(declaring.IsGenericTypeDefinition && !type.IsGenericTypeDefinition ? declaring.MakeGenericType(arguments[..outer]) : declaring) + "."
            : type.Namespace is "Tenure" or "System" or null ? "" : type.Namespace + ".";
        return prefix + plain + Arguments(arguments[outer..]);
    }
}
