package io.kamille.launcher.service;

import io.kamille.cache.key.CacheKey;
import io.kamille.cache.purge.PurgeNotes.Note;
import io.kamille.cache.purge.RemovalListener;
import io.kamille.cache.rules.Tags;
import io.kamille.core.socket.UnixSocket;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.function.Predicate;

/** Removals as messages of two processes that have the same cache keys. */
final class RemovalWords {

  /*
   *   remove KEY                                   32 hexadecimal digits
   *   purge hard|soft SECONDS TAGS PREFIX…         tags of 16 digits after ":", prefixes in Base64
   *   clear
   */
  private static final System.Logger LOG = System.getLogger("kamille.service");
  private static final String REMOVE = "remove ";
  private static final String PURGE = "purge ";
  static final String CLEAR = "clear";
  private static final int KEY_DIGITS = 32;
  private static final int TAG_DIGITS = 16;

  /** The longest message. What would be longer clears. */
  static final int MOST_BYTES = 32 << 10;

  private RemovalWords() {}

  static String remove(long high, long low) {
    HexFormat hex = HexFormat.of();
    return REMOVE + hex.toHexDigits(high) + hex.toHexDigits(low);
  }

  static String purge(Note note) {
    StringBuilder words = new StringBuilder(PURGE);
    words.append(note.isSoft() ? "soft " : "hard ").append(note.epochSeconds()).append(" :");
    for (int i = 0; i < note.tags().size(); i++) {
      words.append(HexFormat.of().toHexDigits(note.tags().at(i)));
    }
    for (String prefix : note.prefixes()) {
      words
          .append(' ')
          .append(Base64.getEncoder().encodeToString(prefix.getBytes(StandardCharsets.ISO_8859_1)));
    }
    return words.length() <= MOST_BYTES ? words.toString() : CLEAR;
  }

  /**
   * Does what a message says.
   *
   * @throws IOException if it says nothing that we know; everything is cleared then
   */
  static void play(String words, RemovalListener listener) throws IOException {
    try {
      if (words.startsWith(REMOVE)) {
        listener.removed(key(words.substring(REMOVE.length())));
      } else if (words.startsWith(PURGE)) {
        listener.purged(note(words.substring(PURGE.length()).split(" ", -1)));
      } else if (words.equals(CLEAR)) {
        listener.cleared();
      } else {
        throw new IllegalArgumentException("no such removal");
      }
    } catch (RuntimeException unknown) {
      listener.cleared();
      throw new IOException("it said " + words.substring(0, Math.min(80, words.length())), unknown);
    }
  }

  /**
   * Does what the messages of another process say, until it hangs up. One that is not understood
   * clears; what comes after it still counts.
   *
   * @param isOther takes messages that are no removals
   */
  static void listen(UnixSocket socket, RemovalListener listener, Predicate<String> isOther)
      throws IOException {
    socket.timeout(Duration.ZERO);
    String words = next(socket);
    while (!words.isEmpty()) {
      if (!isOther.test(words)) {
        try {
          play(words, listener);
        } catch (IOException unknown) {
          LOG.log(Level.WARNING, "another process is not understood: " + unknown.getMessage());
        }
      }
      words = next(socket);
    }
  }

  /** Hangs up, and waits for the thread that listens. */
  static void end(UnixSocket socket, Thread listening) {
    socket.shutdown();
    try {
      listening.join();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
    socket.close();
  }

  private static String next(UnixSocket socket) throws IOException {
    try {
      return socket.receive(2 * MOST_BYTES).text();
    } catch (UnixSocket.TooLong lost) {
      return String.valueOf(lost.getMessage());
    }
  }

  private static CacheKey key(String digits) {
    if (digits.length() != KEY_DIGITS) {
      throw new IllegalArgumentException("key: " + digits);
    }
    return CacheKey.of(
        HexFormat.fromHexDigitsToLong(digits, 0, TAG_DIGITS),
        HexFormat.fromHexDigitsToLong(digits, TAG_DIGITS, KEY_DIGITS));
  }

  private static Note note(String[] words) {
    boolean isSoft = words[0].equals("soft");
    long epochSeconds = Long.parseLong(words[1]);
    String digits = words[2].substring(1);
    long[] tags = new long[digits.length() / TAG_DIGITS];
    for (int i = 0; i < tags.length; i++) {
      int at = i * TAG_DIGITS;
      tags[i] = HexFormat.fromHexDigitsToLong(digits, at, at + TAG_DIGITS);
    }
    List<String> prefixes = new ArrayList<>();
    for (int i = 3; i < words.length; i++) {
      prefixes.add(new String(Base64.getDecoder().decode(words[i]), StandardCharsets.ISO_8859_1));
    }
    return new Note(0, isSoft, epochSeconds, prefixes, Tags.ofBits(tags));
  }
}
