import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Puts a changelog into an RPM that has none, because the plugin that builds it knows none. A
 * program of the build, run from its source: {@code java RpmChangelog.java FILE EPOCH_SECONDS
 * AUTHOR TEXT}.
 */
final class RpmChangelog {

  /*
   * lead 96 | signature header, padded to 8 | header | payload        all numbers big-endian
   *
   * A header: magic 8 | entries 4 | octets of data 4 | entries of 16 | data
   * An entry: tag 4 | type 4 | offset in data 4 | count 4
   *
   * The first entry of both is the region that cannot be changed: its data are the last 16 octets,
   * an entry whose offset is minus the size of all entries. The others are in the order of their
   * data, and rpm sorts them by tag when it reads. The signature has size and digests of
   * what follows it; they keep their sizes.
   */
  private static final int LEAD_BYTES = 96;
  private static final int MAGIC_BYTES = 8;
  private static final int INTRO_BYTES = 16;
  private static final int ENTRY_BYTES = 16;

  private static final int INT32 = 4;
  private static final int STRINGS = 8;
  private static final int REGION = 63;
  private static final int CHANGELOG_TIME = 1080;
  private static final int CHANGELOG_NAME = 1081;
  private static final int CHANGELOG_TEXT = 1082;

  private static final int SIGNATURE_SHA1 = 269;
  private static final int SIGNATURE_SHA256 = 273;
  private static final int SIGNATURE_SIZE = 1000;
  private static final int SIGNATURE_MD5 = 1004;

  private record Entry(int type, int offset, int count) {}

  private final byte[] octets;
  private final int start;
  private final int dataStart;
  private final int end;
  private final Map<Integer, Entry> entries = new LinkedHashMap<>();

  private RpmChangelog(byte[] octets, int start) {
    this.octets = octets;
    this.start = start;
    ByteBuffer in = ByteBuffer.wrap(octets).position(start + MAGIC_BYTES);
    int count = in.getInt();
    int bytes = in.getInt();
    dataStart = start + INTRO_BYTES + count * ENTRY_BYTES;
    end = dataStart + bytes;
    for (int i = 0; i < count; i++) {
      entries.put(in.getInt(), new Entry(in.getInt(), in.getInt(), in.getInt()));
    }
  }

  public static void main(String[] arguments) throws IOException {
    Path file = Path.of(arguments[0]);
    byte[] before = Files.readAllBytes(file);
    RpmChangelog signature = new RpmChangelog(before, LEAD_BYTES);
    int padded = signature.end + (-signature.end & 7);
    RpmChangelog header = new RpmChangelog(before, padded);
    if (header.entries.containsKey(CHANGELOG_TIME)) {
      return;
    }
    byte[] changed = header.with(Integer.parseInt(arguments[1]), arguments[2], arguments[3]);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.write(before, 0, padded);
    out.writeBytes(changed);
    out.write(before, header.end, before.length - header.end);
    byte[] after = out.toByteArray();
    signature.sign(after, padded, changed);
    Files.write(file, after);
  }

  /** This header with a changelog of one entry. */
  private byte[] with(int epochSeconds, String author, String text) {
    ByteArrayOutputStream data = new ByteArrayOutputStream();
    data.write(octets, dataStart, end - dataStart - ENTRY_BYTES);
    while (data.size() % Integer.BYTES != 0) {
      data.write(0);
    }
    entries.put(CHANGELOG_TIME, new Entry(INT32, data.size(), 1));
    data.writeBytes(ByteBuffer.allocate(Integer.BYTES).putInt(epochSeconds).array());
    entries.put(CHANGELOG_NAME, new Entry(STRINGS, data.size(), 1));
    data.writeBytes((author + "\0").getBytes(StandardCharsets.UTF_8));
    entries.put(CHANGELOG_TEXT, new Entry(STRINGS, data.size(), 1));
    data.writeBytes((text + "\0").getBytes(StandardCharsets.UTF_8));
    Entry region = entries.get(REGION);
    entries.put(REGION, new Entry(region.type, data.size(), region.count));
    ByteBuffer last = ByteBuffer.allocate(ENTRY_BYTES);
    put(last, REGION, new Entry(region.type, -entries.size() * ENTRY_BYTES, region.count));
    data.writeBytes(last.array());

    ByteBuffer whole =
        ByteBuffer.allocate(INTRO_BYTES + entries.size() * ENTRY_BYTES + data.size());
    whole.put(octets, start, MAGIC_BYTES).putInt(entries.size()).putInt(data.size());
    entries.forEach((tag, entry) -> put(whole, tag, entry));
    return whole.put(data.toByteArray()).array();
  }

  private static void put(ByteBuffer to, int tag, Entry entry) {
    to.putInt(tag).putInt(entry.type).putInt(entry.offset).putInt(entry.count);
  }

  /** Writes, as this signature, size and digests of what follows it in {@code file}. */
  private void sign(byte[] file, int follows, byte[] header) {
    byte[] rest = Arrays.copyOfRange(file, follows, file.length);
    set(file, SIGNATURE_SHA1, hexadecimal("SHA-1", header));
    set(file, SIGNATURE_SHA256, hexadecimal("SHA-256", header));
    set(file, SIGNATURE_SIZE, ByteBuffer.allocate(Integer.BYTES).putInt(rest.length).array());
    set(file, SIGNATURE_MD5, digest("MD5", rest));
  }

  private void set(byte[] file, int tag, byte[] value) {
    System.arraycopy(value, 0, file, dataStart + entries.get(tag).offset, value.length);
  }

  private static byte[] hexadecimal(String algorithm, byte[] content) {
    return HexFormat.of().formatHex(digest(algorithm, content)).getBytes(StandardCharsets.US_ASCII);
  }

  private static byte[] digest(String algorithm, byte[] content) {
    try {
      return MessageDigest.getInstance(algorithm).digest(content);
    } catch (NoSuchAlgorithmException impossible) {
      throw new AssertionError(impossible);
    }
  }
}
