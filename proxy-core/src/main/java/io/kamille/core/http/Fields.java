package io.kamille.core.http;

import io.kamille.core.SuppressForbidden;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The field lines of one section, in order (RFC 9110 §5, §6.5): offsets into one octet array.
 *
 * <p>Nothing becomes a {@code String} until somebody asks. Not thread-safe: belongs to the head it
 * is part of.
 */
public final class Fields {

  /*
   * A line is four offsets and the number of its known name (or UNKNOWN). Parsed lines point into
   * the octets the parser filled; added lines are appended behind them. `present` has one bit per
   * known name, so that the absence of a field, the usual case, costs one test.
   */
  private static final int NAME_START = 0;
  private static final int NAME_END = 1;
  private static final int VALUE_START = 2;
  private static final int VALUE_END = 3;
  private static final int KNOWN = 4;
  private static final int STRIDE = 5;
  private static final int UNKNOWN = -1;
  private static final int NONE_OWN = Integer.MAX_VALUE;

  private byte[] octets;
  private int used;
  private int[] lines;
  private int size;
  private long present;
  private int ownFrom = NONE_OWN;

  /** An empty section with room for a few lines. */
  public Fields() {
    this(new byte[256], new int[STRIDE * 12]);
  }

  private Fields(byte[] octets, int[] lines) {
    this.octets = octets;
    this.lines = lines;
  }

  /** A section from alternating names and values, for tests and answers of our own. */
  public static Fields of(String... namesAndValues) {
    Fields fields = new Fields();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      fields.add(namesAndValues[i], namesAndValues[i + 1]);
    }
    return fields;
  }

  /** An independent copy with room for no more than it holds. */
  public Fields copy() {
    Fields copy = new Fields(Arrays.copyOf(octets, used), Arrays.copyOf(lines, size * STRIDE));
    copy.used = used;
    copy.size = size;
    copy.present = present;
    copy.ownFrom = ownFrom;
    return copy;
  }

  /** Forgets all lines and keeps the memory. */
  public void clear() {
    used = 0;
    size = 0;
    present = 0;
    ownFrom = NONE_OWN;
  }

  // Asking

  /** How many field lines there are. */
  public int size() {
    return size;
  }

  public boolean has(FieldName name) {
    return (present & name.bit()) != 0 && (!name.sharesBit() || indexOf(name, 0) >= 0);
  }

  /** Whether any of the names is there; {@code mask} comes from {@link #mask}. */
  public boolean hasAny(long mask) {
    return (present & mask) != 0;
  }

  /**
   * A mask for {@link #hasAny}.
   *
   * @throws IllegalArgumentException for a name that shares its bit with others
   */
  public static long mask(FieldName... names) {
    long mask = 0;
    for (FieldName name : names) {
      if (name.sharesBit()) {
        throw new IllegalArgumentException(name + " (expected: one of the first 63 names)");
      }
      mask |= name.bit();
    }
    return mask;
  }

  /** The index of the first line of that name, or -1. */
  public int indexOf(FieldName name) {
    return has(name) ? indexOf(name, 0) : -1;
  }

  /** The index of the first line of that name at or after {@code from}, or -1. */
  public int indexOf(FieldName name, int from) {
    for (int i = from; i < size; i++) {
      if (lines[i * STRIDE + KNOWN] == name.ordinal()) {
        return i;
      }
    }
    return -1;
  }

  /** The same for any name, in any case. */
  public int indexOf(String name, int from) {
    for (int i = from; i < size; i++) {
      if (nameIs(i, name)) {
        return i;
      }
    }
    return -1;
  }

  /** How many lines have that name. */
  public int count(FieldName name) {
    int count = 0;
    if (has(name)) {
      for (int i = 0; i < size; i++) {
        if (lines[i * STRIDE + KNOWN] == name.ordinal()) {
          count++;
        }
      }
    }
    return count;
  }

  /** The known name of line {@code index}, or null for a name we do not look at. */
  public @Nullable FieldName knownAt(int index) {
    int known = lines[index * STRIDE + KNOWN];
    return known == UNKNOWN ? null : FieldName.ofNumber(known);
  }

  /** The name of line {@code index} as it came. */
  public String nameAt(int index) {
    return Octets.text(octets, line(index, NAME_START), line(index, NAME_END));
  }

  /** Whether line {@code index} has that name, ignoring case. */
  public boolean nameIs(int index, String name) {
    return Octets.equalsIgnoreCase(octets, line(index, NAME_START), line(index, NAME_END), name);
  }

  /** The value of line {@code index} without surrounding white space. */
  public String valueAt(int index) {
    return Octets.text(octets, line(index, VALUE_START), line(index, VALUE_END));
  }

  /** The value of the first line of that name, or null. */
  public @Nullable String first(FieldName name) {
    int index = indexOf(name);
    return index < 0 ? null : valueAt(index);
  }

  /** The values of all lines of that name, in order. */
  public List<String> all(FieldName name) {
    List<String> values = new ArrayList<>();
    for (int i = indexOf(name); i >= 0; i = indexOf(name, i + 1)) {
      values.add(valueAt(i));
    }
    return values;
  }

  /** The values of all lines of that name (any name, any case), in order. */
  public List<String> all(String name) {
    List<String> values = new ArrayList<>();
    for (int i = indexOf(name, 0); i >= 0; i = indexOf(name, i + 1)) {
      values.add(valueAt(i));
    }
    return values;
  }

  /** The lines of that name joined as one list (RFC 9110 §5.3), or null if there are none. */
  public @Nullable String joined(FieldName name) {
    int index = indexOf(name);
    if (index < 0) {
      return null;
    }
    int next = indexOf(name, index + 1);
    return next < 0 ? valueAt(index) : String.join(", ", all(name));
  }

  /**
   * The octets that {@link #valueStart} and {@link #valueEnd} point into. Do not keep or change.
   */
  public byte[] octets() {
    return octets;
  }

  public int nameStart(int index) {
    return line(index, NAME_START);
  }

  public int nameEnd(int index) {
    return line(index, NAME_END);
  }

  public int valueStart(int index) {
    return line(index, VALUE_START);
  }

  public int valueEnd(int index) {
    return line(index, VALUE_END);
  }

  /** Whether the operator has line {@code index} added, be its name as it may. */
  public boolean isOwn(int index) {
    return index >= ownFrom;
  }

  /** Whether the operator has added a line of that name. */
  public boolean hasOwn(FieldName name) {
    int line = indexOf(name);
    while (line >= 0 && !isOwn(line)) {
      line = indexOf(name, line + 1);
    }
    return line >= 0;
  }

  // Changing

  /** Lines that are added from now on are the operator's; those before are the client's. */
  public void beginOwn() {
    ownFrom = Math.min(ownFrom, size);
  }

  /** Appends a line. The caller vouches for the value: visible octets, spaces, tabs. */
  public Fields add(FieldName name, String value) {
    append(name.text(), name.ordinal(), value);
    return this;
  }

  /** Appends a line. The caller vouches for name (a token) and value. */
  public Fields add(String name, String value) {
    FieldName known = FieldName.of(name);
    append(name, known == null ? UNKNOWN : known.ordinal(), value);
    return this;
  }

  /** Appends a copy of a line of another section. */
  public void addFrom(Fields other, int index) {
    int nameLength = other.nameEnd(index) - other.nameStart(index);
    int valueLength = other.valueEnd(index) - other.valueStart(index);
    reserve(nameLength + valueLength);
    System.arraycopy(other.octets, other.nameStart(index), octets, used, nameLength);
    System.arraycopy(other.octets, other.valueStart(index), octets, used + nameLength, valueLength);
    int start = used;
    used += nameLength + valueLength;
    push(start, start + nameLength, start + nameLength, used, other.lines[index * STRIDE + KNOWN]);
  }

  /** Replaces every line of that name by one. */
  public void set(FieldName name, String value) {
    remove(name);
    add(name, value);
  }

  /** Removes every line of that name. */
  public void remove(FieldName name) {
    if (!has(name)) {
      return;
    }
    for (int i = size - 1; i >= 0; i--) {
      if (lines[i * STRIDE + KNOWN] == name.ordinal()) {
        removeAt(i);
      }
    }
    if (!name.sharesBit()) {
      present &= ~name.bit();
    }
  }

  /** Removes what stands before octet {@code start} of a value in the lines of that name. */
  public void cut(FieldName name, int start) {
    reserve(name.text().length());
    boolean isCut = false;
    for (int i = size - 1; i >= 0; i--) {
      boolean isOfName = lines[i * STRIDE + KNOWN] == name.ordinal();
      if (isOfName && isCut) {
        removeAt(i);
      } else if (isOfName && valueStart(i) <= start && start <= valueEnd(i)) {
        isCut = true;
        if (start > valueStart(i)) {
          // With a name of its own, so that nobody copies it as the line that came.
          lines[i * STRIDE + NAME_START] = used;
          put(name.text());
          lines[i * STRIDE + NAME_END] = used;
          lines[i * STRIDE + VALUE_START] = start;
        }
      }
    }
  }

  /** Removes every line of that name, known or not, in any case. */
  public void remove(String name) {
    FieldName known = FieldName.of(name);
    if (known != null) {
      remove(known);
      return;
    }
    for (int i = size - 1; i >= 0; i--) {
      if (nameIs(i, name)) {
        removeAt(i);
      }
    }
  }

  private void removeAt(int index) {
    int at = index * STRIDE;
    System.arraycopy(lines, at + STRIDE, lines, at, (size - index - 1) * STRIDE);
    size--;
    if (index < ownFrom && ownFrom != NONE_OWN) {
      ownFrom--;
    }
  }

  // Writing

  /** Writes line {@code index} with its CRLF. */
  public void writeLineTo(ByteBuf out, int index) {
    out.writeBytes(octets, nameStart(index), nameEnd(index) - nameStart(index));
    out.writeShort(':' << 8 | ' ');
    out.writeBytes(octets, valueStart(index), valueEnd(index) - valueStart(index));
    out.writeShort('\r' << 8 | '\n');
  }

  /** Writes all lines, each with its CRLF, without the empty line at the end. */
  public void writeTo(ByteBuf out) {
    for (int i = 0; i < size; i++) {
      writeLineTo(out, i);
    }
  }

  // For the parser, which fills octets first and then points lines into them

  /**
   * The octet array with room for {@code length} octets. Growing keeps what is there.
   *
   * @param length octets from offset 0 that the caller is about to own
   */
  public byte[] roomFor(int length) {
    if (octets.length < length) {
      octets = Arrays.copyOf(octets, Math.max(length, octets.length * 2));
    }
    used = Math.max(used, length);
    return octets;
  }

  /** Octets of heap that its arrays take, whatever is in them. */
  public int heapBytes() {
    return octets.length + lines.length * Integer.BYTES;
  }

  /** Appends a line whose octets already lie in {@link #octets()}. */
  public void pushParsed(
      int nameStart, int nameEnd, int valueStart, int valueEnd, @Nullable FieldName known) {
    push(nameStart, nameEnd, valueStart, valueEnd, known == null ? UNKNOWN : known.ordinal());
  }

  /**
   * Makes room behind all octets for {@code length} more that belong to no line, and answers where
   * it begins in {@link #octets()}.
   */
  int append(int length) {
    reserve(length);
    int start = used;
    used += length;
    return start;
  }

  private void append(String name, int known, String value) {
    int length = name.length() + value.length();
    reserve(length);
    int start = used;
    put(name);
    int middle = used;
    put(value);
    push(start, middle, middle, used, known);
  }

  @SuppressWarnings("deprecation")
  @SuppressForbidden("the only copy of ISO 8859-1 text into octets without garbage")
  private void put(String text) {
    text.getBytes(0, text.length(), octets, used);
    used += text.length();
  }

  private void reserve(int length) {
    if (octets.length - used < length) {
      octets = Arrays.copyOf(octets, Math.max(used + length, octets.length * 2));
    }
  }

  private void push(int nameStart, int nameEnd, int valueStart, int valueEnd, int known) {
    int at = size * STRIDE;
    if (at == lines.length) {
      lines = Arrays.copyOf(lines, lines.length * 2 + STRIDE);
    }
    lines[at + NAME_START] = nameStart;
    lines[at + NAME_END] = nameEnd;
    lines[at + VALUE_START] = valueStart;
    lines[at + VALUE_END] = valueEnd;
    lines[at + KNOWN] = known;
    if (known != UNKNOWN) {
      present |= FieldName.bit(known);
    }
    size++;
  }

  private int line(int index, int part) {
    assert index >= 0 && index < size : index + " of " + size;
    return lines[index * STRIDE + part];
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < size; i++) {
      text.append(nameAt(i)).append(": ").append(valueAt(i)).append('\n');
    }
    return text.toString();
  }

  /** The octets of a field value, one per character (ISO 8859-1). */
  public static byte[] octetsOf(String value) {
    return value.getBytes(StandardCharsets.ISO_8859_1);
  }
}
