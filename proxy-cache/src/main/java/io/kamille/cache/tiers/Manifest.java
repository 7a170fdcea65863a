package io.kamille.cache.tiers;

import io.kamille.cache.store.Variants;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32C;
import java.util.zip.CheckedInputStream;
import java.util.zip.CheckedOutputStream;

/**
 * What lies where in the memory that one process gives the next: the head of that list, and who
 * writes and reads all of it.
 *
 * @param capacityBytes of the arena
 * @param generation how many processes had the arena before the reader
 * @param secret of the cache keys, in its words
 * @param keys how many follow
 * @param bodyBytes octets behind the head
 * @param checksum CRC-32C of the body and, behind it, of the head up to the checksum
 */
record Manifest(
    long capacityBytes, long generation, String secret, long keys, long bodyBytes, int checksum) {

  /*
   * head   magic 8 | version 4 | granule 4 | capacity 8 | generation 8 | secret 32 | keys 8
   *        | body length 8 | checksum 4
   * body   granted blocks, then keys
   * blocks number 4 | block 8 each
   * key    128 bits 16 | variants 1 | each variant
   * variant
   *        flags 1 | octets | head length 4 | checksum of the head 4 | facts length 4 | facts
   *        | if content lies apart: octets | offset 8
   * octets length 8 | hits 4 | blocks
   *
   * The version stands for all of this, for the facts (FactsCodec) and for what the octets mean
   * (StoredResponse). It changes with each of them. The head is written last.
   */
  static final int VERSION = 1;

  static final int LENGTH = 84;
  static final int CHECKED_LENGTH = LENGTH - Integer.BYTES;
  static final int IS_COPIED = 1;
  static final int IS_CONTENT_APART = 2;
  static final int VARIANTS_LIMIT = Variants.LIMIT;
  static final int FACTS_LIMIT = 1 << 20;
  static final int HEAD_LIMIT = 1 << 24;
  static final int GRANULE_BYTES = 64;

  private static final long MAGIC = 0x4b_61_6d_69_4d_65_6d_0aL;
  private static final int SECRET_DIGITS = 32;
  private static final int STEP_BYTES = 1 << 20;

  private byte[] encode() {
    ByteBuf out = Unpooled.buffer(LENGTH);
    out.writeLong(MAGIC).writeInt(VERSION).writeInt(GRANULE_BYTES);
    out.writeLong(capacityBytes).writeLong(generation);
    out.writeCharSequence(secret, StandardCharsets.US_ASCII);
    out.writeLong(keys).writeLong(bodyBytes).writeInt(checksum);
    return out.array();
  }

  /**
   * Reads what {@link #encode} wrote.
   *
   * @throws IOException if it is something else
   */
  private static Manifest decode(byte[] octets) throws IOException {
    ByteBuf in = Unpooled.wrappedBuffer(octets);
    if (in.readLong() != MAGIC) {
      throw new IOException("its list of responses is not finished, or none");
    }
    int version = in.readInt();
    int granule = in.readInt();
    if (version != VERSION || granule != GRANULE_BYTES) {
      throw new IOException("its list is of version " + version + ", and not " + VERSION);
    }
    return new Manifest(
        in.readLong(),
        in.readLong(),
        in.readCharSequence(SECRET_DIGITS, StandardCharsets.US_ASCII).toString(),
        in.readLong(),
        in.readLong(),
        in.readInt());
  }

  /** Writes a manifest: what is written to this is its body, and its head comes last. */
  static final class Output extends CheckedOutputStream {

    private final FileChannel channel;

    Output(FileChannel channel) throws IOException {
      super(
          new BufferedOutputStream(Channels.newOutputStream(channel.position(LENGTH)), STEP_BYTES),
          new CRC32C());
      this.channel = channel;
    }

    void finish(long capacityBytes, long generation, String secret, long keys) throws IOException {
      flush();
      long bodyBytes = channel.position() - LENGTH;
      Manifest head = new Manifest(capacityBytes, generation, secret, keys, bodyBytes, 0);
      getChecksum().update(head.encode(), 0, CHECKED_LENGTH);
      int sum = (int) getChecksum().getValue();
      Manifest checked = new Manifest(capacityBytes, generation, secret, keys, bodyBytes, sum);
      channel.position(0);
      Channels.newOutputStream(channel).write(checked.encode());
    }
  }

  /**
   * The head of a manifest whose length and checksum are right.
   *
   * @throws IOException if it is short, or damaged, or of another version
   */
  static Manifest read(FileChannel channel) throws IOException {
    InputStream in = Channels.newInputStream(channel.position(0));
    byte[] octets = in.readNBytes(LENGTH);
    Manifest head = octets.length < LENGTH ? null : decode(octets);
    if (head == null || head.bodyBytes() != channel.size() - LENGTH) {
      throw new IOException("its list of responses is short");
    }
    CheckedInputStream body = new CheckedInputStream(in, new CRC32C());
    body.transferTo(OutputStream.nullOutputStream());
    body.getChecksum().update(octets, 0, CHECKED_LENGTH);
    if ((int) body.getChecksum().getValue() != head.checksum()) {
      throw new IOException("the checksum of its list of responses differs");
    }
    return head;
  }

  /** What lies behind the head. */
  static DataInputStream body(FileChannel channel) throws IOException {
    InputStream octets = Channels.newInputStream(channel.position(LENGTH));
    return new DataInputStream(new BufferedInputStream(octets, STEP_BYTES));
  }
}
