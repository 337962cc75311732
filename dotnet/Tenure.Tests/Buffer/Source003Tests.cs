// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;
using System.Linq;
using System.Runtime.CompilerServices;
using Xunit;

namespace Tenure.Tests;

/// <summary>Every block of code of the article that the buffers were asked from works as it stands there.</summary>
/// <remarks>The code is that of the README of jemalloc.NET (Allister Beharry, MIT), where it says what a buffer
/// is.</remarks>
public sealed class Source003Tests
{
    [Fact]
    public void an_array_of_a_million_integers_is_filled_read_and_referred_to()
    {
        FixedBuffer<Int64> buffer = new FixedBuffer<Int64>(1000000); // Create an array of 1 million Int64 integers.
        buffer.Fill(100);
        long a = buffer[10]; //copy on read
        ref long b = ref buffer[10]; // no copy...b is an alias to the memory location of buffer[10]

        Assert.Equal(100, a);
        b = 7;
        Assert.Equal(7, buffer[10]);
        Assert.Equal(100, a);
        buffer.Free();
    }

    [Fact]
    public void a_variable_is_a_copy_and_a_ref_variable_an_alias()
    {
        FixedBuffer<int> b = new(20);
        int num = b[15];
        num = 6; // b[15] is still 6
        Assert.Equal(0, b[15]);
        ref int r = ref b[15]; //get an alias to b[15]
        r = 23; // b[15] is now
        Assert.Equal(23, b[15]);
        Assert.Equal(6, num);
        b.Free();
    }

    [Fact]
    public void a_free_from_a_copy_invalidates_every_copy()
    {
        FixedBuffer<int> array = new FixedBuffer<int>(100);
        array[16] = 1;
        FixedBuffer<int> copy = array;
        int a = copy[16]; // a is 16;
        copy[5] = 99;
        int b = array[5]; // b is 99
        copy.Free(); // Invalidate the buffer from the copy
        int c = 0;
        Assert.ThrowsAny<InvalidOperationException>(() => c = array[16]); //InvalidOperationException thrown here

        Assert.Equal(1, a);
        Assert.Equal(99, b);
        Assert.Equal(0, c);
        Assert.False(array.IsValid);
    }

#pragma warning disable CA2231 // the article's structures have no operators
    public struct EmployeeWithBonusPayments : IEquatable<EmployeeWithBonusPayments>
    {
        public DateTime? DOB { get; set; }
        public decimal Balance { get; set; }
        public FixedBuffer<float> BonusPayments { get; set; }
        public FixedBuffer<byte> Photo { get; set; } //8

        public readonly bool Equals(EmployeeWithBonusPayments other) => BonusPayments == other.BonusPayments && Photo == other.Photo;
        public override readonly bool Equals(object? obj) => obj is EmployeeWithBonusPayments other && Equals(other);
        public override readonly int GetHashCode() => Photo.GetHashCode();
    }

    [Fact]
    public void user_defined_structures_contain_buffers()
    {
        using var photo = new FixedBuffer<byte>(16);
        var employee = new EmployeeWithBonusPayments { DOB = new DateTime(1970, 1, 1), Balance = 3m, Photo = photo };
        employee.Photo[8] = 5;
        Assert.Equal(5, photo[8]);
        Assert.False(employee.BonusPayments.IsValid);
    }

    [Fact]
    public void a_string_is_a_readonly_structure_that_can_be_compared_held_and_disposed_of()
    {
        // public readonly struct FixedUtf8String : IEquatable<FixedUtf8String>, IRetainable, IDisposable
        Type type = typeof(FixedUtf8String);
        Assert.True(type.IsValueType && type.IsDefined(typeof(IsReadOnlyAttribute), false));
        Assert.Contains(typeof(IEquatable<FixedUtf8String>), type.GetInterfaces());
        Assert.Contains(typeof(IRetainable), type.GetInterfaces());
        Assert.Contains(typeof(IDisposable), type.GetInterfaces());
    }

    public struct TestUDT : IEquatable<TestUDT>
    {
        public Guid ID { get; set; }
        public FixedUtf8String FirstName { get; set; }
        public FixedUtf8String LastName { get; set; }
        public DateTime? DOB { get; set; }
        public decimal Balance { get; set; }
        public FixedBuffer<float> BonusPayments { get; set; }
        public FixedBuffer<byte> Photo { get; set; }

        public static TestUDT MakeTestRecord(Random rng)
        {
            Guid _id = Guid.NewGuid();
            string _ids = _id.ToString("N");
            byte[] photo = new byte[4096];
            rng.NextBytes(photo);
            return new TestUDT()
            {
                ID = _id,
#pragma warning disable CA1845, CA1865 // as the article has it
                FirstName = new FixedUtf8String("Gavial-" + _id.ToString("D").Substring(0, 4)),
                LastName = new FixedUtf8String("Buxarinovich-" + _id.ToString("D").Substring(0, 4)),
                DOB = _ids.StartsWith("7", StringComparison.Ordinal) ? (DateTime?)null : DateTime.UtcNow,
#pragma warning restore CA1845, CA1865
                Balance = 2131m,
                Photo = new FixedBuffer<byte>(photo)
            };
        }

        public readonly bool Equals(TestUDT other) => ID == other.ID && FirstName == other.FirstName && LastName == other.LastName;
        public override readonly bool Equals(object? obj) => obj is TestUDT other && Equals(other);
        public override readonly int GetHashCode() => ID.GetHashCode();
    }

    [Fact]
    public void a_record_is_made_from_managed_arrays_and_strings()
    {
        TestUDT record = TestUDT.MakeTestRecord(new Random(1));
        byte[] photo = new byte[4096];
        new Random(1).NextBytes(photo);
        Assert.True(record.Photo.EqualTo(photo));
        Assert.True(record.FirstName.StartsWith("Gavial-"));
        Assert.Equal("Buxarinovich-" + record.ID.ToString("D")[..4], record.LastName.ToString());
        record.FirstName.Free();
        record.LastName.Free();
        record.Photo.Free();
    }

    public struct Employee : IEquatable<Employee>
    {
        public Guid ID { get; set; }
        public FixedUtf8String FirstName { get; set; }
        public FixedUtf8String LastName { get; set; }
        public DateTime? DOB { get; set; }
        public decimal Salary { get; set; }
        public FixedBuffer<float> Bonuses { get; set; }
        public FixedBuffer<byte> Photo { get; set; }

        public readonly bool Equals(Employee other) => ID == other.ID;
        public override readonly bool Equals(object? obj) => obj is Employee other && Equals(other);
        public override readonly int GetHashCode() => ID.GetHashCode();
    }

#pragma warning disable CA1001 // the article's field, without the class around it
    private sealed class Company
#pragma warning restore CA1001
    {
        public SafeArray<Employee> employees = new SafeArray<Employee>(100);
    }

    [Fact]
    public void an_array_of_structures_with_buffers_and_strings_lies_in_native_memory()
    {
        using var leaks = new LeakScope();
        using SafeArray<Employee> employees = new Company().employees;
        for (int i = 0; i < employees.Length; i++)
        {
            employees[i] = new Employee
            {
                ID = Guid.NewGuid(),
                FirstName = new FixedUtf8String($"First {i}"),
                LastName = (FixedUtf8String)$"Last {i}",
                DOB = i % 2 == 0 ? null : new DateTime(1990, 1, 1).AddDays(i),
                Salary = i,
                Bonuses = new FixedBuffer<float>([i, 2 * i]),
            };
        }
        employees[3].Bonuses[1] += 1;
        Assert.Equal(7, employees[3].Bonuses[1]);
        Assert.Equal("Last 99", (string)employees[99].LastName);
        Assert.Null(employees[98].DOB);
        Assert.Equal(50, employees.Count(each => each.DOB is not null));
        foreach (ref Employee each in employees)
        {
            each.FirstName.Free();
            each.LastName.Free();
            each.Bonuses.Free();
        }
        Assert.Throws<ObjectDisposedException>(() => employees[3].Bonuses[1]);
    }

    [Fact]
    public void an_array_of_strings_lies_in_native_memory()
    {
        using var leaks = new LeakScope();
        using var strings = new SafeArray<FixedUtf8String>(3);
        for (int i = 0; i < strings.Length; i++)
        {
            strings[i] = new FixedUtf8String($"string {i}");
        }
        Assert.Equal(7, strings[2].IndexOf("2"));
        Assert.True(strings[1].Substring(7) == "1");
        foreach (FixedUtf8String each in strings)
        {
            each.Free();
        }
    }

    [Fact]
    public void every_primitive_type_is_an_element()
    {
        Holds(true);
        Holds((byte)1);
        Holds((sbyte)-1);
        Holds((short)-2);
        Holds((ushort)2);
        Holds(-3);
        Holds(3u);
        Holds(-4L);
        Holds(4UL);
        Holds((IntPtr)5);
        Holds((UIntPtr)5);
        Holds('c');
        Holds(1.5);
        Holds(1.5f);

        static void Holds<T>(T value)
            where T : unmanaged
        {
            using var buffer = new FixedBuffer<T>(9);
            Assert.Equal(default, buffer[8]);
            buffer[8] = value;
            Assert.Equal(value, buffer[8]);
            buffer.Fill(value);
            Assert.All(buffer, each => Assert.Equal(value, each));
        }
    }

    [Fact]
    public void the_vector_multiplication_of_the_benchmarks_multiplies_every_element()
    {
        using var safe = new SafeArray<UInt64>(10_007);
        safe.Fill(3);
        safe.VectorMultiply(5ul);
        Assert.All(safe, each => Assert.Equal(15ul, each));

        using var huge = new HugeArray<UInt16>(70_001);
        huge.Fill(300);
        huge.VectorMultiply((ushort)300);
        Assert.All(huge, each => Assert.Equal(unchecked((ushort)90_000), each));

        using var buffer = new FixedBuffer<UInt16>(1001);
        buffer.Fill(7);
        buffer.VectorMultiply((ushort)6);
        Assert.All(buffer, each => Assert.Equal(42, each));
    }

    [Fact]
    public void what_is_acquired_cannot_be_freed_or_disposed_of()
    {
        var buffer = new FixedBuffer<int>(4);
        buffer.Acquire();
        Assert.Throws<InvalidOperationException>(() => buffer.Free());
        Assert.Throws<InvalidOperationException>(buffer.Dispose);
        Assert.Equal(1, buffer.RefCount);
        Assert.True(buffer.IsRetained);
        buffer.Release();
        Assert.True(buffer.Free());
    }
}
