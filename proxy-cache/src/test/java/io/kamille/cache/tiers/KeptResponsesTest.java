package io.kamille.cache.tiers;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.disk.FactsCodec;
import io.kamille.cache.disk.StoredHead;
import io.kamille.cache.key.HashSecret;
import io.kamille.cache.memory.Arena;
import io.kamille.cache.memory.ArenaGrant;
import io.kamille.cache.memory.PassedFile;
import io.kamille.cache.memory.StoredBytes;
import io.kamille.cache.memory.TestMemory;
import io.kamille.cache.rules.Freshness;
import io.kamille.cache.rules.ReuseRules;
import io.kamille.cache.rules.SelectingFields;
import io.kamille.cache.rules.StoredFacts;
import io.kamille.cache.rules.Tags;
import io.kamille.cache.store.EncodedHead;
import io.kamille.cache.store.ResponseCodec;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.socket.Descriptors;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Manifests whose checksum is right, and that say what cannot be. */
class KeptResponsesTest {

  private static final long CAPACITY = 1 << 20;
  private static final String URI = "http://a.test/";

  private final Arena arena = Arena.openSendable(CAPACITY);
  private StoredBytes stored;
  private StoredBytes other;
  private EncodedHead encoded;
  private ArenaGrant grant;

  /** What a manifest says of one response. */
  private record Entry(
      long key, int variants, List<Long> blocks, long length, int headLength, int checksum) {}

  @BeforeEach
  void store() {
    ByteBuf octets = Unpooled.buffer();
    encoded = ResponseCodec.encode(URI, ResponseHead.of(200, "X-A", "b"), octets);
    octets.writeBytes(new byte[3000]);
    stored = Objects.requireNonNull(TestMemory.store(arena, octets, 0));
    other = Objects.requireNonNull(TestMemory.store(arena, octets, 0));
    grant = Objects.requireNonNull(ArenaGrant.of(arena));
  }

  @AfterEach
  void end() {
    stored.release();
    other.release();
    arena.close();
  }

  private Entry entry() {
    return new Entry(
        1,
        1,
        list(stored.blocks()),
        stored.length(),
        encoded.length(),
        MemoryKeeper.checksum(stored, encoded.length()));
  }

  private Entry ofOther(long key) {
    Entry entry = entry();
    return new Entry(key, 1, list(other.blocks()), entry.length, entry.headLength, entry.checksum);
  }

  private byte[] facts() {
    Freshness freshness = new Freshness(60, Freshness.Source.values()[0]);
    ReuseRules rules = new ReuseRules(200, freshness, false, false, false, false, 0, 0, 0);
    StoredFacts facts = new StoredFacts(rules.shared(), 1000, 0, 1000, null, null, -1, Tags.NONE);
    return FactsCodec.encode(new StoredHead(encoded, facts, SelectingFields.NONE, false));
  }

  private void write(ByteBuf out, Entry entry) {
    write(out, entry, facts());
  }

  private static void write(ByteBuf out, Entry entry, byte[] facts) {
    out.writeLong(entry.key).writeLong(0).writeByte(entry.variants);
    out.writeByte(0).writeLong(entry.length).writeInt(0);
    blocks(out, entry.blocks.stream().mapToLong(Long::longValue).toArray());
    out.writeInt(entry.headLength).writeInt(entry.checksum);
    out.writeInt(facts.length).writeBytes(facts);
  }

  private static void blocks(ByteBuf out, long[] blocks) {
    out.writeInt(blocks.length);
    for (long block : blocks) {
      out.writeLong(block);
    }
  }

  private int taken(long[] free, int keys, Entry... entries) throws IOException {
    try (PassedFile file = PassedFile.create("test")) {
      ByteBuf body = Unpooled.buffer();
      blocks(body, free);
      for (Entry entry : entries) {
        write(body, entry);
      }
      finish(file, body, keys);
      return taken(file);
    }
  }

  private void finish(PassedFile file, ByteBuf body, int keys) throws IOException {
    Manifest.Output out = new Manifest.Output(file.channel());
    body.readBytes(out, body.readableBytes());
    out.finish(CAPACITY, grant.generation(), HashSecret.words(), keys);
  }

  /** How many keys are taken over. */
  private int taken(PassedFile file) {
    KeptMemory memory =
        new KeptMemory(
            Descriptors.copyOf(grant.descriptor()), Descriptors.copyOf(file.descriptor()));
    KeptResponses taken = KeptResponses.take(memory, CAPACITY);
    if (taken == null) {
      return 0;
    }
    int count = taken.responses().size();
    taken.responses().values().forEach(variants -> variants.releaseExcept(null));
    taken.arena().close();
    return count;
  }

  private int taken(Entry... entries) throws IOException {
    return taken(grant.freeBlocks(), entries.length, entries);
  }

  private static List<Long> list(long... blocks) {
    return Arrays.stream(blocks).boxed().toList();
  }

  private static Entry at(Entry entry, long... blocks) {
    return new Entry(
        entry.key, entry.variants, list(blocks), entry.length, entry.headLength, entry.checksum);
  }

  @Test
  void whatIsRightIsTakenOver() throws IOException {
    assertThat(taken(entry())).isEqualTo(1);
  }

  @Test
  void twoResponsesThatOverlapAreRefused() throws IOException {
    Entry entry = entry();
    Entry same = new Entry(2, 1, entry.blocks, entry.length, entry.headLength, entry.checksum);
    assertThat(taken(entry, same)).isZero();
  }

  @Test
  void aResponseInWhatIsGrantedIsRefused() throws IOException {
    assertThat(taken(stored.blocks(), 1, entry())).isZero();
  }

  @Test
  void blocksOutsideAreRefused() throws IOException {
    long count = stored.blocks()[0] & 0xff_ffff;
    for (long first : new long[] {CAPACITY / 64, CAPACITY / 64 - 1, (1L << 40) - 1}) {
      assertThat(taken(at(entry(), first << 24 | count))).isZero();
    }
    assertThat(taken(at(entry()))).isZero();
    assertThat(taken(at(entry(), 0))).isZero();
  }

  @Test
  void aKeyThatComesTwiceIsRefused() throws IOException {
    Entry entry = entry();
    assertThat(taken(entry, ofOther(2))).isEqualTo(2);
    assertThat(taken(entry, ofOther(1))).isZero();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 2, 17, 255})
  void anotherNumberOfVariantsIsRefused(int variants) throws IOException {
    Entry entry = entry();
    assertThat(
            taken(
                new Entry(
                    1, variants, entry.blocks, entry.length, entry.headLength, entry.checksum)))
        .isZero();
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 0, 2, Integer.MAX_VALUE})
  void anotherNumberOfKeysIsRefused(int keys) throws IOException {
    assertThat(taken(grant.freeBlocks(), keys, entry())).isZero();
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, 0, 64, 1 << 20, Long.MAX_VALUE})
  void anotherLengthIsRefused(long length) throws IOException {
    Entry entry = entry();
    assertThat(taken(new Entry(1, 1, entry.blocks, length, entry.headLength, entry.checksum)))
        .isZero();
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 0, 1, 5000, Integer.MAX_VALUE})
  void anotherHeadIsRefused(int headLength) throws IOException {
    Entry entry = entry();
    assertThat(taken(new Entry(1, 1, entry.blocks, entry.length, headLength, entry.checksum)))
        .isZero();
    assertThat(
            taken(
                new Entry(1, 1, entry.blocks, entry.length, entry.headLength, entry.checksum + 1)))
        .isZero();
  }

  @Test
  void factsOfMoreThanAMebibyteAreRefused() throws IOException {
    for (int length : new int[] {1 << 20, (1 << 20) + 1, 1 << 24}) {
      try (PassedFile file = PassedFile.create("test")) {
        ByteBuf body = Unpooled.buffer();
        blocks(body, grant.freeBlocks());
        write(body, entry(), Arrays.copyOf(facts(), length));
        finish(file, body, 1);
        assertThat(taken(file)).as("%d octets", length).isEqualTo(length > 1 << 20 ? 0 : 1);
      }
    }
  }

  @Test
  void anyOctetThatDiffersIsRefusedOrHarmless() throws IOException {
    List<Integer> counts = new ArrayList<>();
    Random random = new Random(7);
    for (int i = 0; i < 2000; i++) {
      try (PassedFile file = PassedFile.create("test")) {
        ByteBuf body = Unpooled.buffer();
        blocks(body, grant.freeBlocks());
        write(body, entry());
        body.setByte(random.nextInt(body.readableBytes()), random.nextInt(256));
        finish(file, body, 1);
        counts.add(taken(file));
      }
    }
    assertThat(counts).contains(0, 1).allMatch(count -> count <= 1);
  }

  @Test
  void aFileThatIsNoManifestIsRefused() throws IOException {
    Random random = new Random(8);
    for (int length : new int[] {0, 1, 83, 84, 85, 1000}) {
      try (PassedFile file = PassedFile.create("test")) {
        byte[] octets = new byte[length];
        random.nextBytes(octets);
        file.channel().write(ByteBuffer.wrap(octets), 0);
        assertThat(taken(file)).isZero();
      }
    }
  }
}
