package io.kamille.admin.auth;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.kamille.core.http.StatusCode;
import io.kamille.core.loop.WallClock;
import io.kamille.core.setting.DurableFile;
import java.io.BufferedReader;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/**
 * Who changed what, one JSON object a line, each with the digest of the line before. Any thread.
 */
public final class AuditLog implements Closeable {

  /*
   * A line is on the disk before the change it announces is made, and another one with the outcome
   * afterwards. A line ends with the SHA-256 digest of what stands before it in the line, which
   * holds the digest of the line before: who changes or removes a line in the middle has to
   * write all later ones anew. A crash can leave a line without its end; it announced a change that
   * was not made, and is cut off at the next start. A file with other lines than ours is put aside
   * as it is, where a check finds them: it must not keep the proxy from starting.
   *
   * Everybody can be refused as often as they like, and only so many lines are kept. So each minute
   * has ten lines of refusals; the number of all others is one more line.
   *
   * While one process takes over from another, both write, and one of them may begin a new file. A
   * lock of a file beside keeps them apart; who has it first reads what the other has written.
   *
   * Lines that wait are written together, under one lock of the file, and forced to the disk at
   * once. Lines of purges wait for others for some milliseconds: they come in great numbers.
   */
  private static final System.Logger LOG = System.getLogger("kamille.admin");
  private static final String HASH = ",\"hash\":\"";
  private static final String BEGINNING = "0".repeat(64);
  private static final long LIMIT_BYTES = 16 << 20;
  private static final int LINE_LIMIT_BYTES = 64 << 10;
  private static final int OLD_FILES = 8;
  private static final int REMEMBERED = 1000;
  private static final int REFUSALS_PER_MINUTE = 10;
  private static final Duration GATHER = Duration.ofMillis(10);
  private static final Pattern BEGIN = Pattern.compile("\\{\"seq\":(\\d{1,18}),\"");

  private final Path file;
  private final WallClock clock;

  /** The last lines, the newest first. A start does not read the JSON in them. */
  private final Deque<String> last = new ArrayDeque<>();

  private final Queue<Line> waiting = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean isDue = new AtomicBoolean();
  private FileChannel channel;
  private @Nullable Object key;
  private long sequence;
  private String hash = BEGINNING;

  @GuardedBy("last")
  private String head = "0 " + BEGINNING;

  private long minute;
  private int written;
  private long unwritten;

  /**
   * How a check of the chain ended.
   *
   * @param lines that are right, up to the first that is not
   * @param trouble what is wrong there, or null
   * @param hash the digest of the last right line
   */
  public record Verdict(long lines, @Nullable String trouble, String hash) {}

  private record Line(Map<String, Object> entry, CompletableFuture<Long> number) {}

  private AuditLog(Path file, WallClock clock, FileChannel channel) {
    this.file = file;
    this.clock = clock;
    this.channel = channel;
  }

  /**
   * Opens the log behind its last whole line.
   *
   * @throws IOException if the file cannot be used; the message names it
   */
  public static AuditLog open(Path file, WallClock clock) throws IOException {
    AuditLog log = new AuditLog(file, clock, DurableFile.open(file));
    try (FileChannel _ = DurableFile.lock(file)) {
      log.resume();
    } catch (IOException broken) {
      log.close();
      throw broken;
    }
    return log;
  }

  /** What tells this file from the one that has its name after a turn; null if there is none. */
  private static @Nullable Object key(Path file) throws IOException {
    return Files.exists(file)
        ? Files.readAttributes(file, BasicFileAttributes.class).fileKey()
        : null;
  }

  private void resume() throws IOException {
    key = key(file);
    synchronized (last) {
      last.clear();
    }
    channel.position(0);
    readOn();
    if (channel.position() == 0 && Files.exists(old(1))) {
      follow(new String(Files.readAllBytes(old(1)), StandardCharsets.UTF_8));
    }
  }

  /** Reads the lines behind those that are known, and cuts off one without its end. */
  private void readOn() throws IOException {
    long from = channel.position();
    ByteBuffer octets = ByteBuffer.allocate(Math.toIntExact(channel.size() - from));
    for (int read = 0; read >= 0 && octets.hasRemaining(); ) {
      read = channel.read(octets);
    }
    int length = octets.position();
    while (length > 0 && octets.get(length - 1) != '\n') {
      length--;
    }
    channel.truncate(from + length);
    channel.position(from + length);
    if (!follow(new String(octets.array(), 0, length, StandardCharsets.UTF_8))) {
      LOG.log(
          Level.ERROR,
          "{0} has lines that are not of the audit log; it is {1} now, and a new file begins",
          file,
          old(1));
      turn();
    }
  }

  /** Whether all of these lines are of this log. The chain goes on from the last one that is. */
  private boolean follow(String lines) {
    boolean isRight = true;
    for (String line : lines.lines().toList()) {
      isRight &= isFollowedBy(line);
    }
    return isRight;
  }

  private boolean isFollowedBy(String line) {
    int at = line.lastIndexOf(HASH);
    Matcher begin = BEGIN.matcher(line);
    if (at < 0 || !line.endsWith("\"}") || !begin.lookingAt()) {
      return false;
    }
    sequence = Long.parseLong(begin.group(1));
    hash = line.substring(at + HASH.length(), line.length() - 2);
    remember(line);
    return true;
  }

  private void remember(String line) {
    synchronized (last) {
      last.addFirst(line);
      if (last.size() > REMEMBERED) {
        last.removeLast();
      }
      head = sequence + " " + hash;
    }
  }

  /**
   * Takes down that something is about to be done, or how it ended, and waits for the disk.
   *
   * @return the line's number
   * @throws IOException if it cannot be written; then nothing may be done
   */
  public long append(
      @Nullable Identity who, String action, String target, String order, String outcome)
      throws IOException {
    return awaited(append(who, action, target, order, outcome, false));
  }

  /**
   * The same without waiting for the disk.
   *
   * @param who null for nobody who is known
   * @param action such as {@code POST /v1/cache/purges}
   * @param order the content that asked for it; empty if there is none, or none that may be shown
   * @param outcome {@code begun}, or the status code
   * @param isSoon whether it is written a moment later with others; else it is when this returns
   * @return done once the line is on the disk, with its number
   */
  public CompletableFuture<Long> append(
      @Nullable Identity who,
      String action,
      String target,
      String order,
      String outcome,
      boolean isSoon) {
    Line line = new Line(entry(who, action, target, order, outcome), new CompletableFuture<>());
    waiting.add(line);
    if (!isSoon) {
      writeAll();
    } else if (!isDue.getAndSet(true)) {
      Thread.startVirtualThread(
          () -> {
            LockSupport.parkNanos(GATHER.toNanos());
            isDue.set(false);
            writeAll();
          });
    }
    return line.number();
  }

  /** Waits for a line; its number. */
  public static long awaited(CompletableFuture<Long> line) throws IOException {
    try {
      return line.join();
    } catch (CompletionException full) {
      throw full.getCause() instanceof IOException why ? why : new IOException(full);
    }
  }

  private synchronized void writeAll() {
    List<Line> lines = new ArrayList<>();
    for (Line next = waiting.poll(); next != null; next = waiting.poll()) {
      lines.add(next);
    }
    if (lines.isEmpty()) {
      return;
    }
    try (FileChannel _ = DurableFile.lock(file)) {
      follow();
      Map<Line, Long> numbers = new LinkedHashMap<>();
      for (Line line : lines) {
        try {
          add(line.entry());
          numbers.put(line, sequence);
        } catch (LineTooLong own) {
          line.number().completeExceptionally(own);
        }
      }
      channel.force(false);
      numbers.forEach((line, number) -> line.number().complete(number));
    } catch (IOException | RuntimeException | Error failed) {
      lines.forEach(line -> line.number().completeExceptionally(failed));
    }
  }

  /** Takes over what another process has written since. */
  private void follow() throws IOException {
    if (!channel.isOpen()
        || channel.size() < channel.position()
        || !Objects.equals(key, key(file))) {
      channel.close();
      channel = DurableFile.open(file);
      resume();
    } else if (channel.size() > channel.position()) {
      readOn();
    }
  }

  private Map<String, Object> entry(
      @Nullable Identity who, String action, String target, String order, String outcome) {
    Map<String, Object> entry = new LinkedHashMap<>();
    entry.put("seq", 0L);
    entry.put("time", Instant.ofEpochMilli(clock.epochMillis()).toString());
    if (who != null) {
      Map<String, Object> person = new LinkedHashMap<>();
      person.put("id", who.id());
      person.put("name", who.name());
      person.put("via", who.via().name().toLowerCase(Locale.ROOT));
      person.put("address", who.address());
      entry.put("who", person);
    }
    entry.put("action", action);
    entry.put("target", target);
    if (!order.isEmpty()) {
      entry.put("order", order);
    }
    entry.put("outcome", outcome);
    return entry;
  }

  private void add(Map<String, Object> entry) throws IOException {
    entry.put("seq", sequence + 1);
    entry.put("prev", hash);
    String text = Json.MAPPER.writeValueAsString(entry);
    String open = text.substring(0, text.length() - 1);
    String digest = Secret.digest(open);
    String line = open + HASH + digest + "\"}";
    write(line + "\n");
    sequence++;
    hash = digest;
    remember(line);
  }

  private void write(String line) throws IOException {
    byte[] octets = line.getBytes(StandardCharsets.UTF_8);
    if (octets.length > LINE_LIMIT_BYTES) {
      throw new LineTooLong(file + ": a line is longer than " + LINE_LIMIT_BYTES + " octets");
    }
    if (channel.position() + octets.length > LIMIT_BYTES) {
      turn();
    }
    long before = channel.position();
    try {
      ByteBuffer buffer = ByteBuffer.wrap(octets);
      while (buffer.hasRemaining()) {
        channel.write(buffer);
      }
    } catch (IOException full) {
      channel.truncate(before);
      channel.position(before);
      throw full;
    }
  }

  /** Begins a new file; the oldest goes. */
  private void turn() throws IOException {
    channel.force(false);
    channel.close();
    for (int i = OLD_FILES; i > 1; i--) {
      if (Files.exists(old(i - 1))) {
        Files.move(old(i - 1), old(i), StandardCopyOption.REPLACE_EXISTING);
      }
    }
    Files.move(file, old(1), StandardCopyOption.REPLACE_EXISTING);
    channel = DurableFile.open(file);
    key = key(file);
  }

  private Path old(int number) {
    return file.resolveSibling(file.getFileName() + "." + number);
  }

  /**
   * Somebody was refused.
   *
   * @param who null for nobody who is known
   * @param status the status code of the answer
   */
  public void refused(@Nullable Identity who, String action, String target, int status) {
    synchronized (waiting) {
      count(who, action, target, status);
    }
  }

  private void count(@Nullable Identity who, String action, String target, int status) {
    long now = clock.epochSeconds() / 60;
    if (now != minute) {
      if (unwritten > 0) {
        appendRefusal(null, "refusals", unwritten + " more within a minute", "refused");
      }
      minute = now;
      written = 0;
      unwritten = 0;
    }
    if (written >= REFUSALS_PER_MINUTE) {
      unwritten++;
    } else {
      written++;
      appendRefusal(who, action, target, Integer.toString(status));
    }
  }

  /** Somebody brought a token, a session or a code that nobody has. */
  public void wrongSecret(Peer peer) {
    refused(null, "wrong secret", peer.address(), StatusCode.UNAUTHORIZED);
  }

  private void appendRefusal(@Nullable Identity who, String action, String target, String outcome) {
    var _ =
        append(who, action, target, "", outcome, true)
            .exceptionally(
                full -> {
                  LOG.log(Level.ERROR, "the audit log lacks a refusal", full);
                  return 0L;
                });
  }

  private static final class Json {

    static final JsonMapper MAPPER = JsonMapper.builder().build();
  }

  /** A line that is too long, which is no trouble of the file. */
  private static final class LineTooLong extends IOException {

    private static final long serialVersionUID = 1;

    LineTooLong(String message) {
      super(message);
    }
  }

  /** The last entries, the newest first. */
  public List<Map<String, Object>> last(int limit) {
    List<String> lines;
    synchronized (last) {
      lines = last.stream().limit(limit).toList();
    }
    List<Map<String, Object>> entries = new ArrayList<>();
    for (String line : lines) {
      try {
        entries.add(Json.MAPPER.readValue(line, new TypeReference<>() {}));
      } catch (JacksonException broken) {
        // A check of the chain finds it.
      }
    }
    return entries;
  }

  /** Digest and number of the last line, to be kept elsewhere: it shows a cut end. */
  public String head() {
    synchronized (last) {
      return head;
    }
  }

  /**
   * Checks the chain of a file.
   *
   * @throws IOException if it cannot be read
   */
  public static Verdict verify(Path file) throws IOException {
    long lines = 0;
    String before = null;
    try (BufferedReader reader =
        new BufferedReader(
            new InputStreamReader(Files.newInputStream(file), StandardCharsets.UTF_8))) {
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        String trouble = trouble(line, before);
        if (trouble != null) {
          return new Verdict(
              lines, "line " + (lines + 1) + ": " + trouble, before == null ? BEGINNING : before);
        }
        before = line.substring(line.lastIndexOf(HASH) + HASH.length(), line.length() - 2);
        lines++;
      }
    }
    return new Verdict(lines, null, before == null ? BEGINNING : before);
  }

  private static @Nullable String trouble(String line, @Nullable String before) {
    int at = line.lastIndexOf(HASH);
    if (at < 0 || !line.endsWith("\"}")) {
      return "it has no digest";
    }
    if (!Secret.digest(line.substring(0, at))
        .equals(line.substring(at + HASH.length(), line.length() - 2))) {
      return "its digest is wrong";
    }
    return before == null || line.substring(0, at).endsWith("\"prev\":\"" + before + "\"")
        ? null
        : "it does not follow the line before";
  }

  @Override
  public synchronized void close() throws IOException {
    writeAll();
    channel.close();
  }
}
