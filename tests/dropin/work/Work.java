// SPDX-FileCopyrightText: Tenure contributors
// SPDX-License-Identifier: MIT

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.zip.Deflater;
import java.util.zip.Inflater;

// The virtual machine itself allocates for its compiler, its threads, zip and direct buffers.
public class Work {
    static int entries(int seed) throws Exception {
        HashMap<Integer, String> kept = new HashMap<>();
        for (int i = 0; i < 100_000; i++) kept.put(i * 31 + seed, "entry " + i);
        List<ByteBuffer> outside = new ArrayList<>();
        for (int i = 1; i < 300; i++) outside.add(ByteBuffer.allocateDirect(i * 100));
        byte[] input = new byte[1 << 20], packed = new byte[2 << 20], output = new byte[1 << 20];
        for (int i = 0; i < input.length; i++) input[i] = (byte) (i % 251 ^ i >> 8);
        for (int turn = 0; turn < 20; turn++) {
            Deflater deflater = new Deflater(1 + turn % 9);
            deflater.setInput(input);
            deflater.finish();
            int length = deflater.deflate(packed);
            deflater.end();
            Inflater inflater = new Inflater();
            inflater.setInput(packed, 0, length);
            if (inflater.inflate(output) != input.length || output[777] != input[777]) throw new Exception("differs");
            inflater.end();
        }
        return kept.size();
    }

    public static void main(String[] arguments) throws Exception {
        int[] found = new int[4];
        Thread[] threads = new Thread[found.length];
        for (int i = 0; i < threads.length; i++) {
            int number = i;
            threads[i] = new Thread(() -> {
                try {
                    found[number] = entries(number);
                } catch (Exception failure) {
                    failure.printStackTrace();
                }
            });
            threads[i].start();
        }
        int all = 0;
        for (int i = 0; i < threads.length; i++) {
            threads[i].join();
            all += found[i];
        }
        System.out.println(threads.length + " threads, " + all + " entries, deflated and back");
    }
}
