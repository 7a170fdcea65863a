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
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Map.Entry;
import org.jspecify.annotations.Nullable;

/** What another process had stored in the memory that it gave us. One thread. */
public final class KeptResponses {

  /*
   * Nothing that is read is believed: blocks must lie in the arena and belong to one response each,
   * heads must have the checksum that was written down, lengths must fit. Whatever does not ends it
   * all, and the cache starts empty: a manifest that is wrong in one place may be in others.
   */
  private static final System.Logger LOG = System.getLogger("kamille.cache");
  private static final int KEY_BYTES = 17;
  private static final int OCTETS_BYTES = 12;
  private static final int NUMBERS_BYTES = 12;

  private final Manifest.Input in;
  private final ArenaAdoption adoption;
  private final Map<CacheKey, Variants> responses = new HashMap<>();

  private KeptResponses(Manifest.Input in, ArenaAdoption adoption) {
    this.in = in;
    this.adoption = adoption;
  }

  /**
   * An arena, and what is stored in it.
   *
   * @param arena the caller's to close
   * @param responses with one lease on each
   */
  public record Taken(Arena arena, Map<CacheKey, Variants> responses) {

    /** Makes them visible, those hottest last that are asked for most. */
    public void moveInto(TieredStore store) {
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
  }

  /**
   * Takes the memory over.
   *
   * @param memory closed in any case
   * @param capacityBytes that the arena must have
   * @return null if anything differs from what we expect, which is logged
   */
  public static @Nullable Taken take(KeptMemory memory, long capacityBytes) {
    try (memory;
        PassedFile manifest = PassedFile.of(Descriptors.copyOf(memory.manifest()))) {
      Manifest.Input in = Manifest.Input.open(manifest.channel());
      Manifest head = in.head();
      if (!head.secret().equals(HashSecret.words())) {
        throw new IOException("its cache keys mean something else");
      }
      try (ArenaAdoption adoption =
          ArenaAdoption.open(memory.arena(), capacityBytes, head.generation())) {
        KeptResponses kept = new KeptResponses(in, adoption);
        Arena arena = kept.read(head);
        return new Taken(arena, kept.responses);
      }
    } catch (IOException | IllegalArgumentException | IndexOutOfBoundsException differs) {
      LOG.log(
          Level.WARNING,
          "the memory of the process before us is not taken over: " + differs.getMessage());
      return null;
    }
  }

  private Arena read(Manifest head) throws IOException {
    long[] free = blocks();
    for (long i = 0; i < head.keys(); i++) {
      readKey();
    }
    if (!in.isAtEnd()) {
      throw new IOException("its list of responses has more than it says");
    }
    return adoption.finish(free);
  }

  private void readKey() throws IOException {
    ByteBuf fixed = in.next(KEY_BYTES);
    CacheKey key = CacheKey.of(fixed.readLong(), fixed.readLong());
    int count = fixed.readUnsignedByte();
    if (count == 0 || count > Manifest.VARIANTS_LIMIT) {
      throw new IOException("a key of its list has " + count + " responses");
    }
    Variants variants = readVariant();
    for (int i = 1; i < count; i++) {
      StoredResponse response = readVariant();
      if (variants.selectedBy(response.selecting()) != null) {
        throw new IOException("a response is twice in its list");
      }
      variants = variants.with(response);
    }
    if (responses.put(key, variants) != null) {
      throw new IOException("a key is twice in its list");
    }
  }

  private StoredResponse readVariant() throws IOException {
    int flags = in.next(1).readByte();
    StoredBytes octets = readOctets();
    ByteBuf numbers = in.next(NUMBERS_BYTES);
    int headLength = length(numbers.readInt(), Math.min(Manifest.HEAD_LIMIT, octets.length()));
    if (numbers.readInt() != MemoryKeeper.checksum(octets, headLength)) {
      throw new IOException("a response of its memory is another one");
    }
    int factsLength = length(numbers.readInt(), Manifest.FACTS_LIMIT);
    StoredHead head = FactsCodec.decode(in.next(factsLength).readSlice(factsLength), headLength);
    StoredResponse response = head.with(octets);
    if ((flags & Manifest.IS_CONTENT_APART) != 0) {
      StoredBytes content = readOctets();
      long offset = in.next(Long.BYTES).readLong();
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
    ByteBuf fixed = in.next(OCTETS_BYTES);
    long length = fixed.readLong();
    int hits = fixed.readInt();
    return adoption.claim(blocks(), length, hits);
  }

  private long[] blocks() throws IOException {
    long count = in.next(Integer.BYTES).readInt();
    if (count < 0) {
      throw new IOException("blocks: " + count);
    }
    ByteBuf from = in.next(count * Long.BYTES);
    long[] blocks = new long[(int) count];
    for (int i = 0; i < count; i++) {
      blocks[i] = from.readLong();
    }
    return blocks;
  }

  private static int length(int length, long most) throws IOException {
    if (length < 0 || length > most) {
      throw new IOException("a part of its list has " + length + " octets");
    }
    return length;
  }
}
