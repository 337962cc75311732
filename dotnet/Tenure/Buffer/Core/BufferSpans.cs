// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;

namespace Tenure;

/// <summary>The elements of a long buffer as spans, one after the other; the buffer is held while they are gone
/// through.</summary>
/// <remarks><code>foreach (Span&lt;float&gt; span in huge.Spans()) { span.Reverse(); }</code></remarks>
/// <typeparam name="T">The element.</typeparam>
public readonly ref struct BufferSpans<T>
    where T : unmanaged
{
    /// <summary>Elements of a span when nothing is said: 2^30.</summary>
    public const int Most = 1 << 30;

    private readonly BufferView<T> _view;
    private readonly object _owner;
    private readonly int _most;

    internal BufferSpans(BufferView<T> view, object owner, int most)
    {
        _view = view;
        _owner = owner;
        _most = most;
    }

    /// <summary>Begins, and holds the buffer.</summary>
    /// <returns>What <c>foreach</c> uses.</returns>
    /// <exception cref="ObjectDisposedException">It was freed.</exception>
    public Enumerator GetEnumerator() => new(_view, _owner, _most);

    /// <summary>Goes from span to span. It is not copied: a copy that is disposed of as well releases what somebody
    /// else holds, or throws.</summary>
    public unsafe ref struct Enumerator
    {
        private readonly BufferView<T> _view;
        private readonly object _owner;
        private readonly int _most;
        private nint _next;
        private nint _start;
        private bool _holds;

        internal Enumerator(BufferView<T> view, object owner, int most)
        {
            HandleWords.Acquire(view.Word, view.Generation);
            _view = view;
            _owner = owner;
            _most = most;
            _holds = true;
        }

        /// <summary>The span. Requires a <see cref="MoveNext"/> that was true.</summary>
        public readonly Span<T> Current => new(_view.Pointer + _start, (int)(_next - _start));

        /// <summary>Goes to the next span.</summary>
        /// <returns>False when there is none.</returns>
        public bool MoveNext()
        {
            _start = _next;
            if (!_holds || _start == _view.Length)
            {
                return false;
            }
            _next += nint.Min(_most, _view.Length - _start);
            return true;
        }

        /// <summary>No longer holds the buffer. A second time does nothing.</summary>
        public void Dispose()
        {
            if (_holds)
            {
                _holds = false;
                _start = _next;
                HandleWords.Release(_view.Word, _view.Generation);
                GC.KeepAlive(_owner);
            }
        }
    }
}
