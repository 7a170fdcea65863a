package io.kamille.cache.tiers;

import io.kamille.cache.disk.Checksum;
import io.kamille.cache.disk.FactsCodec;
import io.kamille.cache.disk.StoredHead;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.key.HashSecret;
import io.kamille.cache.memory.Arena;
import io.kamille.cache.memory.ArenaGrant;
import io.kamille.cache.memory.PassedFile;
import io.kamille.cache.memory.StoredBytes;
import io.kamille.cache.store.StoredOctets;
import io.kamille.cache.store.StoredResponse;
import io.kamille.cache.store.Variants;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Gives the memory of a cache to the process that takes its place. The store goes on with what it
 * has, and stores nothing more. One thread.
 */
public final class MemoryKeeper implements AutoCloseable {

  /*
   * The memory is granted first; so what lies under a key when the manifest comes to it is never
   * overwritten, whatever becomes of it here. Who removes or replaces it from then on tells the
   * other process. Purges that came before are settled for each key as it is written.
   */
  private final ArenaGrant grant;
  private final PassedFile file;
  private long keys;

  private MemoryKeeper(ArenaGrant grant, PassedFile file) {
    this.grant = grant;
    this.file = file;
  }

  /**
   * Grants the memory of {@code arena}, and writes down what lies in it.
   *
   * @param store which tells of removals and of what takes the place of something
   * @return null if the arena is no file
   * @throws IOException if it cannot be written; nothing has changed then
   */
  public static @Nullable MemoryKeeper give(Arena arena, TieredStore store) throws IOException {
    PassedFile file = PassedFile.create("kamille-manifest");
    ArenaGrant grant = null;
    boolean isWritten = false;
    try {
      grant = ArenaGrant.of(arena);
      if (grant != null) {
        MemoryKeeper keeper = new MemoryKeeper(grant, file);
        keeper.write(store);
        isWritten = true;
        return keeper;
      }
      return null;
    } catch (UncheckedIOException failed) {
      throw new IOException(failed);
    } finally {
      if (!isWritten) {
        file.close();
        if (grant != null) {
          grant.takeBack();
        }
      }
    }
  }

  /** What the other process is to be given; stays ours. */
  public KeptMemory memory() {
    return new KeptMemory(grant.descriptor(), file.descriptor());
  }

  /**
   * The other process is gone.
   *
   * @return false if it is not; the store goes on without storing anything then
   */
  public boolean takeBack() {
    return grant.takeBack();
  }

  /** Ends the manifest, which the other process has read or has as its own. */
  @Override
  public void close() {
    file.close();
  }

  private void write(TieredStore store) throws IOException {
    ByteBuf entry = Unpooled.buffer();
    Manifest.Output out = new Manifest.Output(file.channel());
    blocks(entry, grant.freeBlocks());
    entry.readBytes(out, entry.readableBytes());
    store.forEach(
        (key, any) -> {
          Variants variants = store.peek(key);
          if (variants != null && write(key, variants, entry.clear())) {
            keys++;
            try {
              entry.readBytes(out, entry.readableBytes());
            } catch (IOException e) {
              throw new UncheckedIOException(e);
            }
          }
        });
    out.finish(grant.capacityBytes(), grant.generation(), HashSecret.words(), keys);
  }

  /** Whether there is anything to pass on. */
  private static boolean write(CacheKey key, Variants variants, ByteBuf out) {
    out.writeLong(key.high()).writeLong(key.low());
    int countAt = out.writerIndex();
    out.writeByte(0);
    List<StoredResponse> written = new ArrayList<>();
    for (int i = 0; i < Math.min(variants.size(), Manifest.VARIANTS_LIMIT); i++) {
      StoredResponse response = variants.at(i);
      if (written.stream().noneMatch(response::isSameContent) && response.tryRetain()) {
        if (write(response, out)) {
          written.add(response);
        }
        response.release();
      }
    }
    out.setByte(countAt, written.size());
    return !written.isEmpty();
  }

  /** The caller holds a lease. */
  private static boolean write(StoredResponse response, ByteBuf out) {
    byte[] facts = FactsCodec.encode(StoredHead.of(response));
    boolean isApart = !response.content().equals(response.headOctets());
    if (!(response.headOctets() instanceof StoredBytes)
        || !(response.content() instanceof StoredBytes)
        || facts.length > Manifest.FACTS_LIMIT
        || response.headLength() > Manifest.HEAD_LIMIT) {
      return false;
    }
    out.writeByte(
        (response.isCopied() ? Manifest.IS_COPIED : 0) | (isApart ? Manifest.IS_CONTENT_APART : 0));
    octets(out, (StoredBytes) response.headOctets());
    out.writeInt(response.headLength());
    out.writeInt(checksum(response.headOctets(), response.headLength()));
    out.writeInt(facts.length);
    out.writeBytes(facts);
    if (isApart) {
      octets(out, (StoredBytes) response.content());
      out.writeLong(response.contentOffset());
    }
    return true;
  }

  /** Of an encoded head. The caller holds a lease. */
  static int checksum(StoredOctets octets, int length) {
    byte[] head = new byte[length];
    octets.copyTo(0, head, 0, length);
    return Checksum.of(head, 0, length);
  }

  private static void octets(ByteBuf out, StoredBytes octets) {
    out.writeLong(octets.length());
    out.writeInt(octets.hits());
    blocks(out, octets.blocks());
  }

  private static void blocks(ByteBuf out, long[] blocks) {
    out.writeInt(blocks.length);
    for (long block : blocks) {
      out.writeLong(block);
    }
  }
}
