package io.kamille.cluster.engine;

import io.kamille.core.setting.DurableFile;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.zip.CRC32C;
import org.jgroups.protocols.raft.FileBasedLog;
import org.jgroups.protocols.raft.LogEntries;
import org.jgroups.protocols.raft.LogEntry;
import org.jspecify.annotations.Nullable;

/** The log of this node on its disk. Confined to the thread of RAFT, once it is open. */
final class MemberLog extends FileBasedLog {

  /*
   * jgroups-raft trusts its files, and prints a stack trace where an entry cannot be written. It
   * goes on then: its next entry has the same number. So here
   *
   *   - each entry and each snapshot ends with a checksum
   *   - an entry that is not on the disk is an exception, and nothing is written to a disk that is
   *     nearly full
   *   - a log that is damaged is put aside, and this node begins as one that has lost its disk
   *
   * The file VOTER lies beside the entries, and is lost with them: see JGroupsEngine.
   */
  private static final System.Logger LOG = System.getLogger("kamille.cluster");
  private static final long LEAST_FREE_BYTES = 16 << 20;
  private static final String VOTER = "voter";
  private static final String SNAPSHOT = "snapshot";

  private final Path directory;
  private final Consumer<String> onFault;

  private MemberLog(Path directory, Consumer<String> onFault) {
    this.directory = directory;
    this.onFault = onFault;
  }

  /**
   * Opens it, or begins it.
   *
   * @param onFault told if no entry can be written any more
   * @throws IOException if nothing can be written there
   */
  static MemberLog open(Path directory, Consumer<String> onFault) throws IOException {
    Files.createDirectories(directory);
    MemberLog log = new MemberLog(directory, onFault);
    log.requireSpace();
    String damage = log.load();
    if (damage == null) {
      return log;
    }
    log.close();
    Path aside =
        directory.resolveSibling(
            directory.getFileName() + ".damaged-" + Instant.now().toEpochMilli());
    Files.move(directory, aside);
    LOG.log(
        Level.WARNING,
        "the log of the cluster is damaged: {0}. It is now {1}, and this node takes the log of the"
            + " others. Delete that directory once this node is current.",
        damage,
        aside);
    Files.createDirectories(directory);
    MemberLog anew = new MemberLog(directory, onFault);
    damage = anew.load();
    if (damage != null) {
      throw new IOException(directory + ": " + damage);
    }
    return anew;
  }

  /** What is wrong with it; null if nothing is. */
  private @Nullable String load() {
    try {
      if (isVoter()
          && !(Files.exists(directory.resolve("metadata.raft"))
              && Files.exists(directory.resolve("entries.raft")))) {
        return "a file is missing";
      }
      useFsync(true);
      init(directory.toString(), Map.of());
      if (lastAppended() < commitIndex()) {
        return "it ends at entry " + lastAppended() + ", and had " + commitIndex();
      }
      if (firstAppended() > 0 && getSnapshot() == null) {
        return "the snapshot before entry " + firstAppended() + " is missing";
      }
      long term = 0;
      for (long i = Math.max(1, firstAppended()); i <= lastAppended(); i++) {
        LogEntry entry = get(i);
        if (entry == null
            || !isWhole(entry)
            || entry.term() < term
            || entry.term() > currentTerm()) {
          return "entry " + i + " cannot be read";
        }
        term = entry.term();
      }
      return null;
    } catch (Exception damaged) {
      return String.valueOf(damaged.getMessage());
    }
  }

  /** Whether this node may vote. */
  boolean isVoter() {
    return Files.exists(directory.resolve(VOTER));
  }

  /** This node may vote from now on, and after a restart; the log is that of these voters. */
  void makeVoter(List<String> voters) throws IOException {
    String names = String.join("\n", voters);
    DurableFile.replace(directory.resolve(VOTER), names.getBytes(StandardCharsets.UTF_8));
  }

  /** Whose votes the log in that directory stands on; nobody's if it says nothing. */
  static List<String> voters(Path directory) {
    try {
      return Files.readAllLines(directory.resolve(VOTER));
    } catch (IOException none) {
      return List.of();
    }
  }

  @Override
  public long append(long index, LogEntries entries) {
    try {
      requireSpace();
    } catch (IOException full) {
      throw fault(String.valueOf(full.getMessage()));
    }
    long last = super.append(index, entries);
    if (last != index + entries.size() - 1 || !isWhole(get(last))) {
      throw fault("an entry cannot be written to " + directory);
    }
    return last;
  }

  private IllegalStateException fault(String message) {
    onFault.accept(message);
    return new IllegalStateException(message);
  }

  private void requireSpace() throws IOException {
    if (directory.toFile().getUsableSpace() < LEAST_FREE_BYTES) {
      throw new IOException(
          "the disk under " + directory + " is full. Free " + (LEAST_FREE_BYTES >> 20) + " MiB");
    }
  }

  @Override
  public void setSnapshot(ByteBuffer snapshot) {
    byte[] octets = new byte[snapshot.remaining()];
    snapshot.duplicate().get(octets);
    try {
      DurableFile.replace(directory.resolve(SNAPSHOT), sealed(octets));
    } catch (IOException refused) {
      throw fault("a snapshot cannot be written: " + refused.getMessage());
    }
  }

  @Override
  public @Nullable ByteBuffer getSnapshot() {
    Path file = directory.resolve(SNAPSHOT);
    try {
      return Files.exists(file) ? ByteBuffer.wrap(opened(Files.readAllBytes(file))) : null;
    } catch (IOException damaged) {
      throw new IllegalStateException("the snapshot is damaged", damaged);
    }
  }

  // Checksums

  private static boolean isWhole(@Nullable LogEntry entry) {
    if (entry == null) {
      return false;
    }
    // A snapshot of others leaves an entry without content, and RAFT has entries of its own.
    return entry.length() == 0
        || entry.internal()
        || isSealed(ByteBuffer.wrap(entry.command(), entry.offset(), entry.length()));
  }

  private static boolean isSealed(ByteBuffer octets) {
    int length = octets.remaining() - Integer.BYTES;
    return length >= 0 && checksum(octets.slice(octets.position(), length)) == lastInt(octets);
  }

  private static int lastInt(ByteBuffer octets) {
    return octets.getInt(octets.limit() - Integer.BYTES);
  }

  private static int checksum(ByteBuffer octets) {
    CRC32C sum = new CRC32C();
    sum.update(octets);
    return (int) sum.getValue();
  }

  /** With a checksum. */
  static byte[] sealed(byte[] octets) {
    return ByteBuffer.allocate(octets.length + Integer.BYTES)
        .put(octets)
        .putInt(checksum(ByteBuffer.wrap(octets)))
        .array();
  }

  /** Without its checksum. */
  static byte[] opened(byte[] sealed) throws IOException {
    ByteBuffer octets = ByteBuffer.wrap(sealed);
    if (!isSealed(octets)) {
      throw new IOException("a checksum is wrong");
    }
    byte[] content = new byte[sealed.length - Integer.BYTES];
    octets.get(content);
    return content;
  }
}
