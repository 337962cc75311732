// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

using System;

namespace Tenure;

/// <summary>Enumerates the elements of a long buffer as consecutive spans and holds the buffer meanwhile.</summary>
/// <remarks><code>foreach (Span&lt;float&gt; span in huge.Spans()) { span.Reverse(); }</code></remarks>
/// <typeparam name="T">The type of the elements.</typeparam>
public readonly ref struct BufferSpans<T>
    where T : unmanaged
{
    /// <summary>The default number of elements of a span: 2^30.</summary>
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

    /// <summary>Starts the enumeration and holds the buffer.</summary>
    /// <returns>The enumerator for <c>foreach</c>.</returns>
    /// <exception cref="ObjectDisposedException">The memory was freed.</exception>
    public Enumerator GetEnumerator() => new(_view, _owner, _most);

    /// <summary>Enumerates the spans. Do not copy the enumerator: disposing of a copy as well releases another holder's
    /// hold or throws.</summary>
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

        /// <summary>Gets the current span. Requires that the last <see cref="MoveNext"/> returned true.</summary>
        public readonly Span<T> Current => new(_view.Pointer + _start, (int)(_next - _start));

        /// <summary>Advances to the next span.</summary>
        /// <returns>False when there are no more.</returns>
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

        /// <summary>Releases the buffer. A second call does nothing.</summary>
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
