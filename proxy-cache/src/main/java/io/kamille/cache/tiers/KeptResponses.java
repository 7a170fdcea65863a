package io.kamille.cache.tiers;

import io.kamille.cache.disk.FactsCodec;
import io.kamille.cache.disk.StoredHead;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.key.HashSecret;
import io.kamille.cache.memory.Arena;
import io.kamille.cache.memory.ArenaAdoption;
import io.kamille.cache.memory.PassedFile;
import io.kamille.cache.memory.StoredBytes;
import io.kamille.cache.store.StoredResponse;
import io.kamille.cache.store.Variants;
import io.kamille.core.socket.Descriptors;
import io.netty.buffer.Unpooled;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.nio.LongBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Map.Entry;
import org.jspecify.annotations.Nullable;

/** What another process had stored in the memory that it gave us. One thread. */
final class KeptResponses {

  /*
   * Nothing that is read is believed: blocks must lie in the arena and belong to one response each,
   * heads must have the checksum that was written down, lengths must fit. Whatever does not ends it
   * all, and the cache starts empty: a manifest that is wrong in one place may be in others.
   */
  private static final System.Logger LOG = System.getLogger("kamille.cache");
  private final Map<CacheKey, Variants> responses = new HashMap<>();
  private final DataInputStream in;
  private final ArenaAdoption adoption;
  private final Arena arena;

  private KeptResponses(DataInputStream in, ArenaAdoption adoption, long keys) throws IOException {
    this.in = in;
    this.adoption = adoption;
    long[] free = blocks();
    for (long i = 0; i < keys; i++) {
      readKey();
    }
    if (in.read() >= 0) {
      throw new IOException("its list of responses has more than it says");
    }
    this.arena = adoption.finish(free);
  }

  /** What they lie in; the caller's to close. */
  Arena arena() {
    return arena;
  }

  /** With one lease on each. */
  Map<CacheKey, Variants> responses() {
    return responses;
  }

  /** Makes them visible, those hottest last that are asked for most. */
  void moveInto(TieredStore store) {
    List<Entry<CacheKey, Variants>> coldestFirst = new ArrayList<>(responses.entrySet());
    coldestFirst.sort(Comparator.comparingInt(entry -> entry.getValue().at(0).hits()));
    int count = 0;
    for (Entry<CacheKey, Variants> entry : coldestFirst) {
      Variants variants = entry.getValue();
      for (int i = 0; i < variants.size(); i++) {
        count += store.adopt(entry.getKey(), variants.at(i)) ? 1 : 0;
      }
    }
    responses.clear();
    LOG.log(
        Level.INFO,
        "{0} responses in memory were taken over from the process before us",
        Integer.toString(count));
  }

  /**
   * Takes the memory over.
   *
   * @param memory closed in any case
   * @param capacityBytes that the arena must have
   * @return null if anything differs from what we expect, which is logged
   */
  static @Nullable KeptResponses take(KeptMemory memory, long capacityBytes) {
    try (memory;
        PassedFile manifest = PassedFile.of(Descriptors.copyOf(memory.manifest()))) {
      Manifest head = Manifest.read(manifest.channel());
      if (!head.secret().equals(HashSecret.words())) {
        throw new IOException("its cache keys mean something else");
      }
      try (ArenaAdoption adoption =
          ArenaAdoption.open(memory.arena(), capacityBytes, head.generation())) {
        return new KeptResponses(Manifest.body(manifest.channel()), adoption, head.keys());
      }
    } catch (IOException | IllegalArgumentException | IndexOutOfBoundsException differs) {
      LOG.log(
          Level.WARNING, "the memory of the process before us is not taken over: " + why(differs));
      return null;
    }
  }

  private static @Nullable String why(Exception differs) {
    return differs instanceof EOFException
        ? "its list of responses ends too early"
        : differs.getMessage();
  }

  private void readKey() throws IOException {
    CacheKey key = CacheKey.of(in.readLong(), in.readLong());
    int count = in.readUnsignedByte();
    if (count == 0 || count > Manifest.VARIANTS_LIMIT) {
      throw new IOException("a key of its list has " + count + " responses");
    }
    Variants variants = readVariant();
    for (int i = 1; i < count; i++) {
      StoredResponse response = readVariant();
      if (variants.selectedBy(response.selecting()) != null) {
        throw new IOException("a response is twice in its list");
      }
      variants = variants.with(response, Manifest.VARIANTS_LIMIT);
    }
    if (responses.put(key, variants) != null) {
      throw new IOException("a key is twice in its list");
    }
  }

  private StoredResponse readVariant() throws IOException {
    int flags = in.readByte();
    StoredBytes octets = readOctets();
    int headLength = length(in.readInt(), Math.min(Manifest.HEAD_LIMIT, octets.length()));
    if (in.readInt() != MemoryKeeper.checksum(octets, headLength)) {
      throw new IOException("a response of its memory is another one");
    }
    byte[] facts = in.readNBytes(length(in.readInt(), Manifest.FACTS_LIMIT));
    StoredHead head = FactsCodec.decode(Unpooled.wrappedBuffer(facts), headLength);
    StoredResponse response = head.with(octets);
    if ((flags & Manifest.IS_CONTENT_APART) != 0) {
      StoredBytes content = readOctets();
      long offset = in.readLong();
      if (offset < 0 || offset > content.length()) {
        throw new IOException("the content of a response begins behind its end");
      }
      response = response.withContent(content, offset);
    }
    if ((flags & Manifest.IS_COPIED) != 0) {
      response.claimCopy();
    }
    return response;
  }

  private StoredBytes readOctets() throws IOException {
    long length = in.readLong();
    int hits = in.readInt();
    return adoption.claim(blocks(), length, hits);
  }

  private long[] blocks() throws IOException {
    int count = length(in.readInt(), Integer.MAX_VALUE / Long.BYTES);
    LongBuffer octets = ByteBuffer.wrap(in.readNBytes(count * Long.BYTES)).asLongBuffer();
    if (octets.remaining() < count) {
      throw new EOFException();
    }
    long[] blocks = new long[count];
    octets.get(blocks);
    return blocks;
  }

  private static int length(int length, long most) throws IOException {
    if (length < 0 || length > most) {
      throw new IOException("a part of its list has " + length + " octets");
    }
    return length;
  }
}
