package io.kamille.cache.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.util.IllegalReferenceCountException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.ReadOnlyBufferException;
import java.nio.channels.FileChannel;
import java.nio.channels.ScatteringByteChannel;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A slice of the arena reads like any other ByteBuf, cannot be changed, and ends its lease. */
class LeasedSliceTest {

  private static final int LENGTH = 1000;

  private final Arena arena = Arena.open(Arena.CAPACITY_MINIMUM_BYTES);
  private final ByteBuf same = Unpooled.wrappedBuffer(ArenaTest.pattern(LENGTH));
  private StoredBytes stored = ArenaTest.store(arena, LENGTH);
  private ByteBuf slice = Unpooled.EMPTY_BUFFER;

  @BeforeEach
  void takeOneSlice() {
    List<ByteBuf> slices = new ArrayList<>();
    stored.forEachSlice(0, LENGTH, slices::add);
    assertThat(slices).hasSize(1);
    slice = slices.getFirst();
  }

  @AfterEach
  void everyLeaseHasEnded() {
    if (slice.refCnt() > 0) {
      slice.release();
    }
    assertThat(stored.leases()).isEqualTo(1);
    stored.release();
    arena.close();
  }

  @Test
  void itIsReadableDirectMemoryWithAnAddress() {
    assertThat(slice.readableBytes()).isEqualTo(LENGTH);
    assertThat(slice.capacity()).isEqualTo(LENGTH);
    assertThat(slice.writableBytes()).isZero();
    assertThat(slice.isDirect()).isTrue();
    assertThat(slice.isContiguous()).isTrue();
    assertThat(slice.isReadOnly()).isTrue();
    assertThat(slice.hasArray()).isFalse();
    assertThat(slice.hasMemoryAddress()).isTrue();
    assertThat(slice.memoryAddress()).isEqualTo(arena.address());
    assertThat(slice.nioBufferCount()).isEqualTo(1);
    assertThat(slice.asReadOnly()).isSameAs(slice);
    assertThat(slice.slice(10, 20).memoryAddress()).isEqualTo(arena.address() + 10);
  }

  @Test
  @SuppressWarnings("deprecation")
  void everyGetterAgreesWithAnOrdinaryBuffer() {
    ByteBuf swapped = slice.order(ByteOrder.LITTLE_ENDIAN);
    ByteBuf sameSwapped = same.order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i <= LENGTH - 8; i++) {
      assertThat(slice.getByte(i)).isEqualTo(same.getByte(i));
      assertThat(slice.getBoolean(i)).isEqualTo(same.getBoolean(i));
      assertThat(slice.getUnsignedByte(i)).isEqualTo(same.getUnsignedByte(i));
      assertThat(slice.getShort(i)).isEqualTo(same.getShort(i));
      assertThat(slice.getShortLE(i)).isEqualTo(same.getShortLE(i));
      assertThat(slice.getUnsignedShort(i)).isEqualTo(same.getUnsignedShort(i));
      assertThat(slice.getMedium(i)).isEqualTo(same.getMedium(i));
      assertThat(slice.getMediumLE(i)).isEqualTo(same.getMediumLE(i));
      assertThat(slice.getUnsignedMedium(i)).isEqualTo(same.getUnsignedMedium(i));
      assertThat(slice.getUnsignedMediumLE(i)).isEqualTo(same.getUnsignedMediumLE(i));
      assertThat(slice.getInt(i)).isEqualTo(same.getInt(i));
      assertThat(slice.getIntLE(i)).isEqualTo(same.getIntLE(i));
      assertThat(slice.getUnsignedInt(i)).isEqualTo(same.getUnsignedInt(i));
      assertThat(slice.getLong(i)).isEqualTo(same.getLong(i));
      assertThat(slice.getLongLE(i)).isEqualTo(same.getLongLE(i));
      assertThat(slice.getChar(i)).isEqualTo(same.getChar(i));
      assertThat(Float.floatToRawIntBits(slice.getFloat(i))).isEqualTo(same.getInt(i));
      assertThat(Double.doubleToRawLongBits(slice.getDouble(i))).isEqualTo(same.getLong(i));
      assertThat(swapped.getInt(i)).isEqualTo(sameSwapped.getInt(i));
      assertThat(swapped.getShort(i)).isEqualTo(sameSwapped.getShort(i));
    }
  }

  @Test
  void itEqualsAndComparesLikeItsOctets() {
    assertThat((Object) slice).isEqualTo(same).hasSameHashCodeAs(same);
    assertThat(slice.compareTo(same)).isZero();
    assertThat(ByteBufUtil.hexDump(slice)).isEqualTo(ByteBufUtil.hexDump(same));
    assertThat(slice.toString(StandardCharsets.ISO_8859_1))
        .isEqualTo(same.toString(StandardCharsets.ISO_8859_1));
    assertThat(slice.getCharSequence(3, 40, StandardCharsets.UTF_8).toString())
        .isEqualTo(same.getCharSequence(3, 40, StandardCharsets.UTF_8).toString());
  }

  @Test
  void searchingFindsWhatIsThere() {
    for (int octet = -128; octet < 128; octet++) {
      byte wanted = (byte) octet;
      assertThat(slice.indexOf(0, LENGTH, wanted)).isEqualTo(same.indexOf(0, LENGTH, wanted));
      assertThat(slice.bytesBefore(7, 500, wanted)).isEqualTo(same.bytesBefore(7, 500, wanted));
      assertThat(slice.forEachByte(found -> found != wanted))
          .isEqualTo(same.forEachByte(found -> found != wanted));
      assertThat(slice.forEachByteDesc(found -> found != wanted))
          .isEqualTo(same.forEachByteDesc(found -> found != wanted));
    }
  }

  @Test
  void partsComeOutIntoEveryKindOfTarget(@TempDir Path directory) throws IOException {
    byte[] expected = ByteBufUtil.getBytes(same, 100, 700);

    byte[] array = new byte[720];
    slice.getBytes(100, array, 10, 700);
    assertThat(Arrays.copyOfRange(array, 10, 710)).isEqualTo(expected);

    for (ByteBuffer target :
        new ByteBuffer[] {ByteBuffer.allocate(700), ByteBuffer.allocateDirect(700)}) {
      slice.getBytes(100, target);
      assertThat(target.flip()).isEqualTo(ByteBuffer.wrap(expected));
    }

    ByteBuf parts =
        Unpooled.wrappedBuffer(
            Unpooled.directBuffer().writeZero(300), Unpooled.buffer(400).writeZero(400));
    for (ByteBuf target :
        new ByteBuf[] {
          Unpooled.buffer(700).writeZero(700), Unpooled.directBuffer().writeZero(700), parts
        }) {
      slice.getBytes(100, target, 0, 700);
      assertThat(ByteBufUtil.getBytes(target)).isEqualTo(expected);
      target.clear().writeBytes(slice, 100, 700);
      assertThat(ByteBufUtil.getBytes(target)).isEqualTo(expected);
      target.release();
    }

    var stream = new ByteArrayOutputStream();
    slice.getBytes(100, stream, 700);
    assertThat(stream.toByteArray()).isEqualTo(expected);

    Path file = directory.resolve("part");
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      assertThat(slice.getBytes(100, channel, 300)).isEqualTo(300);
      assertThat(slice.getBytes(400, channel, 300, 400)).isEqualTo(400);
    }
    assertThat(Files.readAllBytes(file)).isEqualTo(expected);
  }

  @Test
  void readingMovesTheReaderIndexOnly() throws IOException {
    assertThat(slice.readInt()).isEqualTo(same.readInt());
    assertThat(ByteBufUtil.getBytes(slice.readSlice(10)))
        .isEqualTo(ByteBufUtil.getBytes(same.readSlice(10)));
    ByteBuf copied = slice.readBytes(20);
    assertThat((Object) copied).isEqualTo(same.readSlice(20));
    copied.release();
    var stream = new ByteArrayOutputStream();
    slice.readBytes(stream, 500);
    assertThat(stream.toByteArray()).isEqualTo(ByteBufUtil.getBytes(same.readSlice(500)));
    assertThat(slice.readerIndex()).isEqualTo(534);
    assertThat((Object) slice.skipBytes(1)).isEqualTo(same.skipBytes(1));
    assertThat(slice.nioBuffer()).isEqualTo(same.nioBuffer());
    assertThat(slice.nioBuffers()[0]).isEqualTo(same.nioBuffer());
    assertThat(slice.internalNioBuffer(5, 50)).isEqualTo(same.nioBuffer(5, 50));
  }

  @Test
  void nioViewsAreReadOnlyAndDirect() {
    ByteBuffer view = slice.nioBuffer(10, 20);
    assertThat(view.isDirect()).isTrue();
    assertThat(view.order()).isEqualTo(ByteOrder.BIG_ENDIAN);
    assertThatExceptionOfType(ReadOnlyBufferException.class).isThrownBy(() -> view.put((byte) 1));
  }

  @Test
  void aCopyIsIndependentAndWritable() {
    ByteBuf copy = slice.copy(5, 50);
    copy.setByte(0, ~copy.getByte(0));
    assertThat(slice.getByte(5)).isEqualTo(same.getByte(5));
    copy.release();
    assertThat(slice.refCnt()).isEqualTo(1);
  }

  @Test
  void theLeaseEndsWithTheLastDerivedBuffer() {
    ByteBuf part = slice.retainedSlice(10, 20);
    ByteBuf twin = slice.retainedDuplicate();
    ByteBuf read = twin.readRetainedSlice(30);
    assertThat(slice.release()).isFalse();
    assertThat(part.release()).isFalse();
    assertThat((Object) read).isEqualTo(same.slice(0, 30));
    assertThat(stored.leases()).isEqualTo(2);
    assertThat(twin.release()).isFalse();
    assertThat(read.release()).isTrue();
    assertThat(stored.leases()).isEqualTo(1);
  }

  @Test
  void nothingCanBeReadAfterTheRelease() {
    slice.retain(2);
    assertThat(slice.release(3)).isTrue();
    assertThat(slice.refCnt()).isZero();
    assertThatThrownBy(() -> slice.getByte(0)).isInstanceOf(IllegalReferenceCountException.class);
    assertThatThrownBy(slice::memoryAddress).isInstanceOf(IllegalReferenceCountException.class);
    assertThatThrownBy(slice::nioBuffer).isInstanceOf(IllegalReferenceCountException.class);
    assertThatThrownBy(slice::retain).isInstanceOf(IllegalReferenceCountException.class);
    assertThatThrownBy(slice::release).isInstanceOf(IllegalReferenceCountException.class);
  }

  @Test
  void whatLiesOutsideIsOutOfBounds() {
    assertThatExceptionOfType(IndexOutOfBoundsException.class)
        .isThrownBy(() -> slice.getByte(LENGTH));
    assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> slice.getByte(-1));
    assertThatExceptionOfType(IndexOutOfBoundsException.class)
        .isThrownBy(() -> slice.getLong(LENGTH - 7));
    assertThatExceptionOfType(IndexOutOfBoundsException.class)
        .isThrownBy(() -> slice.getBytes(990, new byte[11]));
    assertThatExceptionOfType(IndexOutOfBoundsException.class)
        .isThrownBy(() -> slice.getBytes(990, ByteBuffer.allocate(11)));
    assertThatExceptionOfType(IndexOutOfBoundsException.class)
        .isThrownBy(() -> slice.getBytes(990, new ByteArrayOutputStream(), 11));
    assertThatExceptionOfType(IndexOutOfBoundsException.class)
        .isThrownBy(() -> slice.nioBuffer(990, 11));
    assertThatExceptionOfType(IndexOutOfBoundsException.class)
        .isThrownBy(() -> slice.copy(990, 11));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("mutators")
  void whatWouldChangeTheOctetsIsRefused(Method mutator) throws IllegalAccessException {
    @Nullable Object[] arguments = new @Nullable Object[mutator.getParameterCount()];
    for (int i = 0; i < arguments.length; i++) {
      arguments[i] = argument(mutator.getParameterTypes()[i]);
    }
    byte[] before = ByteBufUtil.getBytes(slice, 0, LENGTH);
    assertThat(refusal(mutator, arguments))
        .isInstanceOfAny(ReadOnlyBufferException.class, IndexOutOfBoundsException.class);
    slice.clear();
    assertThat(refusal(mutator, arguments)).isInstanceOf(ReadOnlyBufferException.class);
    assertThat(ByteBufUtil.getBytes(slice, 0, LENGTH)).isEqualTo(before);
  }

  private @Nullable Throwable refusal(Method mutator, @Nullable Object[] arguments)
      throws IllegalAccessException {
    try {
      mutator.invoke(slice, arguments);
      throw new AssertionError(mutator + " returned (expected: a refusal)");
    } catch (InvocationTargetException e) {
      return e.getCause();
    }
  }

  @Test
  void derivedBuffersRefuseToo() {
    ByteBuf part = slice.slice(0, 10);
    assertThat(part.isReadOnly()).isTrue();
    assertThatExceptionOfType(ReadOnlyBufferException.class).isThrownBy(() -> part.setByte(0, 1));
    assertThatExceptionOfType(ReadOnlyBufferException.class)
        .isThrownBy(() -> part.clear().writeByte(1));
    assertThatExceptionOfType(ReadOnlyBufferException.class)
        .isThrownBy(() -> slice.duplicate().setLong(0, 1));
  }

  @Test
  void moreRoomIsRefusedAsAValueWhereTheMethodHasOne() {
    assertThat(slice.ensureWritable(1, true)).isEqualTo(1);
    assertThat(slice.isWritable()).isFalse();
    assertThat(slice.clear().isWritable(1)).isFalse();
  }

  static List<Method> mutators() {
    List<Method> mutators = new ArrayList<>();
    for (Method method : ByteBuf.class.getMethods()) {
      String name = method.getName();
      boolean changes =
          name.matches(
                  "(set|write)(Boolean|Byte|Bytes|Short|Medium|Int|Long|Char|Float|Double|Zero|CharSequence)(LE)?")
              || name.matches("discard(Some)?ReadBytes")
              || (name.equals("capacity") && method.getParameterCount() == 1)
              || (name.equals("ensureWritable") && method.getParameterCount() == 1);
      if (changes && !method.isBridge()) {
        mutators.add(method);
      }
    }
    assertThat(mutators).hasSizeGreaterThan(40);
    return mutators;
  }

  private static @Nullable Object argument(Class<?> type) {
    byte[] octets = new byte[4];
    new Random(1).nextBytes(octets);
    if (type == int.class) {
      return 1;
    } else if (type == long.class) {
      return 1L;
    } else if (type == boolean.class) {
      return true;
    } else if (type == float.class) {
      return 1f;
    } else if (type == double.class) {
      return 1d;
    } else if (type == byte[].class) {
      return octets;
    } else if (type == ByteBuf.class) {
      return Unpooled.wrappedBuffer(octets);
    } else if (type == ByteBuffer.class) {
      return ByteBuffer.wrap(octets);
    } else if (type == InputStream.class) {
      return new ByteArrayInputStream(octets);
    } else if (type == CharSequence.class) {
      return "text";
    } else if (type == Charset.class) {
      return StandardCharsets.UTF_8;
    } else if (type == ScatteringByteChannel.class || type == FileChannel.class) {
      return null;
    }
    throw new AssertionError(type);
  }
}
