package io.kamille.cluster.engine;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a cluster stands on: members that find one another, messages between them, and one log that
 * a majority of the voters keeps. Any thread.
 */
public interface ClusterEngine extends AutoCloseable {

  /** Whom the engine tells. Threads of the engine; must not wait. */
  interface Listener {

    /** A member says something, ourselves included. */
    void told(String node, byte[] message);

    /** A member asks; {@code answer} may come later, from any thread. */
    void asked(String node, byte[] message, Answer answer);

    /** These are the members now. */
    void members(List<String> nodes);
  }

  /** Takes one answer. */
  @FunctionalInterface
  interface Answer {

    void send(byte[] answer);
  }

  /** What the entries of the log make, one after the other, in the same order at each node. */
  interface ReplicatedState {

    /**
     * Reads an entry as {@link #apply} does, and changes nothing.
     *
     * @throws IOException if this release cannot read all of it
     */
    void check(byte[] entry) throws IOException;

    /** One entry; what is returned goes to the node that appended it. */
    byte[] apply(byte[] entry);

    /** All that the entries so far have made. */
    byte[] save();

    /** Takes the place of all that was. */
    void load(byte[] saved);
  }

  /**
   * How far the log has come here.
   *
   * @param appended the number of the last entry, agreed upon or not; {@link #NOT_KNOWN} if this
   *     node has no entry, or does not vote yet because it has lost its log
   * @param applied the number of the last entry that the state has
   * @param leader the node that orders the entries; null if nobody does
   */
  record Position(long appended, long applied, long term, @Nullable String leader) {

    /** More than any node has applied. */
    public static final long NOT_KNOWN = Long.MAX_VALUE;

    /** How many entries are not applied here; 0 while none is known. */
    public long behind() {
      return appended == NOT_KNOWN ? 0 : appended - applied;
    }
  }

  /** How often an entry is appended that may come again, before there is no quorum. */
  int ATTEMPTS = 3;

  /** How long each time. */
  Duration ATTEMPT = Duration.ofMillis(1_500);

  /** A message or an entry of that kind. */
  static byte[] message(byte kind, byte... content) {
    return ByteBuffer.allocate(1 + content.length).put(kind).put(content).array();
  }

  /** The octets of a number. */
  static byte[] octets(long number) {
    return ByteBuffer.allocate(Long.BYTES).putLong(number).array();
  }

  /** Writes something. */
  @FunctionalInterface
  interface Writing {

    void to(DataOutputStream out) throws IOException;
  }

  /**
   * The octets of what that writes.
   *
   * @throws UncheckedIOException if a text in it is too long
   */
  static byte[] octets(Writing writing) {
    var octets = new ByteArrayOutputStream();
    try (var out = new DataOutputStream(octets)) {
      writing.to(out);
    } catch (IOException tooLong) {
      throw new UncheckedIOException(tooLong);
    }
    return octets.toByteArray();
  }

  /** Appends an entry that changes nothing if it comes again; null if there is no quorum. */
  static byte @Nullable [] append(ClusterEngine engine, byte[] entry) {
    byte[] answer = null;
    for (int i = 0; i < ATTEMPTS && answer == null; i++) {
      answer = engine.append(entry, ATTEMPT);
    }
    return answer;
  }

  Position position();

  /** Why this node takes no part; empty if it does. */
  default String problem() {
    return "";
  }

  /** How many octets the log takes here. */
  long logBytes();

  /** Those that are members now, this node included. */
  List<String> members();

  /** Tells all members, ourselves included. Does not wait; what cannot be told is lost. */
  void tell(byte[] message);

  /** Asks all members, ourselves included, and waits for their answers as long as that. */
  Map<String, byte[]> ask(byte[] message, Duration limit);

  /**
   * Appends an entry, and waits until the state of the leader has it.
   *
   * @throws IllegalArgumentException if its readers would refuse it; nothing is appended then
   * @return what the state answered; null if nobody has said in time that it is in the log. It may
   *     be there all the same
   */
  byte @Nullable [] append(byte[] entry, Duration limit);

  /** Tells the others at once what is agreed upon, if we are the leader. */
  void hurry();

  /** This node knows all that was agreed upon: it votes from now on, if it is a voter. */
  void vote();

  /** Leaves. */
  @Override
  void close();
}
