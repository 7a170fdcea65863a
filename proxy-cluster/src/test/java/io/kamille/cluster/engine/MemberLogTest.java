package io.kamille.cluster.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jgroups.protocols.raft.LogEntries;
import org.jgroups.protocols.raft.LogEntry;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MemberLogTest {

  private static final int ENTRIES = 20;

  @TempDir private Path directory;

  private final List<String> faults = new ArrayList<>();
  private Path place;
  private int written;

  @BeforeEach
  void write() throws IOException {
    place = directory.resolve("log-" + ++written);
    MemberLog log = MemberLog.open(place, faults::add);
    for (int i = 1; i <= ENTRIES; i++) {
      append(log, i);
    }
    log.commitIndex(ENTRIES);
    log.makeVoter(List.of("a", "b", "c"));
    log.close();
  }

  private static void append(MemberLog log, long number) {
    byte[] octets = MemberLog.sealed(new byte[] {(byte) number, 2, 3});
    log.append(number, new LogEntries().add(new LogEntry(1, octets)));
  }

  private MemberLog open() throws IOException {
    return MemberLog.open(place, faults::add);
  }

  private boolean isAside() throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.anyMatch(file -> file.toString().contains(".damaged-"));
    }
  }

  @Test
  void whatIsWrittenIsReadAndVotes() throws IOException {
    MemberLog log = open();
    assertThat(log.lastAppended()).isEqualTo(ENTRIES);
    assertThat(log.isVoter()).isTrue();
    assertThat(MemberLog.voters(place)).containsExactly("a", "b", "c");
    assertThat(MemberLog.voters(directory)).isEmpty();
    assertThat(isAside()).isFalse();
    append(log, ENTRIES + 1);
    log.close();
    assertThat(faults).isEmpty();
  }

  @Test
  void anySpoiledOctetOfAnEntryIsFound() throws IOException {
    byte[] whole = Files.readAllBytes(place.resolve("entries.raft"));
    int used = ENTRIES * (26 + 7);
    for (int at = 0; at < used; at += 11) {
      write();
      byte[] spoiled = whole.clone();
      spoiled[at] ^= 0x55;
      Files.write(place.resolve("entries.raft"), spoiled);
      MemberLog log = open();
      assertThat(log.isVoter()).as("octet %d", at).isFalse();
      assertThat(log.lastAppended()).isZero();
      log.close();
    }
  }

  @Test
  void aLogThatIsTooShortIsPutAside() throws IOException {
    try (RandomAccessFile entries =
        new RandomAccessFile(place.resolve("entries.raft").toFile(), "rw")) {
      entries.setLength(100);
    }
    MemberLog log = open();
    assertThat(isAside()).isTrue();
    assertThat(log.lastAppended()).isZero();
    assertThat(log.isVoter()).isFalse();
    log.close();
  }

  @Test
  void aFileThatIsMissingIsADamage() throws IOException {
    for (String file : List.of("metadata.raft", "entries.raft")) {
      write();
      Files.delete(place.resolve(file));
      MemberLog log = open();
      assertThat(log.isVoter()).as(file).isFalse();
      log.close();
    }
  }

  @Test
  void aSnapshotIsKeptWholeOrFound() throws IOException {
    MemberLog log = open();
    log.setSnapshot(ByteBuffer.wrap(new byte[] {1, 2, 3, 4}));
    assertThat(log.getSnapshot()).isEqualTo(ByteBuffer.wrap(new byte[] {1, 2, 3, 4}));
    log.truncate(ENTRIES);
    log.close();
    MemberLog again = open();
    assertThat(again.isVoter()).isTrue();
    again.close();
    Files.write(place.resolve("snapshot"), new byte[] {1, 2, 3, 5, 0, 0, 0, 0});
    MemberLog damaged = open();
    assertThat(damaged.isVoter()).isFalse();
    assertThat(damaged.getSnapshot()).isNull();
    damaged.close();
  }

  @Test
  void aDiskThatIsFullIsTold() throws IOException {
    Path none = directory.resolve("gone");
    MemberLog log = MemberLog.open(none, faults::add);
    append(log, 1);
    // A directory that is not there has no space.
    Files.move(none, directory.resolve("elsewhere"));
    assertThatThrownBy(() -> append(log, 2)).hasMessageContaining("is full. Free 16 MiB");
    assertThat(faults).hasSize(1);
    log.close();
  }
}
