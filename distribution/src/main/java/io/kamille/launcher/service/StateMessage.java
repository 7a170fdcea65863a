package io.kamille.launcher.service;

import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.zip.CRC32C;

/**
 * What a process knows beside its configuration and its responses, as one message to the process
 * that takes its place: values by name. Stateless; any thread.
 */
final class StateMessage {

  /*
   *   state VERSION
   *   NAME=VALUE          one line each; a name has no "=", neither has a control character
   *   end CHECKSUM        CRC-32C of all that comes before, in hexadecimal digits
   *
   * Both sides may be of different versions. A name that the other side does not know is its to
   * leave out. Whatever is not understood counts as nothing: the new process then starts as after a
   * restart. Values are secrets, so no log line shows one.
   */
  private static final System.Logger LOG = System.getLogger("kamille.service");
  private static final int VERSION = 1;
  private static final String FIRST = "state ";
  private static final String LAST = "end ";

  /** Below what a socket takes as one message. */
  static final int MOST_BYTES = 64 << 10;

  private static final int LAST_BYTES = LAST.length() + 8;

  private StateMessage() {}

  /** These values; what comes after the limit of a message is left out. */
  static String write(Map<String, String> values) {
    StringBuilder message = new StringBuilder(FIRST + VERSION + "\n");
    int leftOut = 0;
    for (Map.Entry<String, String> each : values.entrySet()) {
      String line = each.getKey() + '=' + each.getValue() + '\n';
      boolean isLine =
          each.getKey().indexOf('=') < 0
              && line.chars().limit(line.length() - 1L).allMatch(c -> c >= ' ' && c < 0x80);
      if (isLine && message.length() + line.length() + LAST_BYTES <= MOST_BYTES) {
        message.append(line);
      } else {
        leftOut++;
      }
    }
    if (leftOut > 0) {
      LOG.log(
          Level.WARNING,
          leftOut + " values are not handed over: they are too long, or not one line of ASCII");
    }
    String checksum = checksum(message);
    return message.append(LAST).append(checksum).toString();
  }

  /** The values of a message; none if it is not understood, which is logged. */
  static Map<String, String> read(String message) {
    int version = message.indexOf('\n');
    int last = message.lastIndexOf('\n') + 1;
    if (message.isEmpty()) {
      return Map.of();
    }
    if (version < 0 || !message.substring(0, version).equals(FIRST + VERSION)) {
      return ignored("it is of another version");
    }
    if (!message.substring(last).equals(LAST + checksum(message.substring(0, last)))) {
      return ignored("its checksum differs");
    }
    Map<String, String> values = new LinkedHashMap<>();
    for (String line : message.substring(version + 1, last).lines().toList()) {
      int equals = line.indexOf('=');
      if (equals < 0) {
        return ignored("a line of it has no value");
      }
      values.put(line.substring(0, equals), line.substring(equals + 1));
    }
    return values;
  }

  private static Map<String, String> ignored(String reason) {
    LOG.log(Level.WARNING, "the state of the process before us is not taken over: " + reason);
    return Map.of();
  }

  private static String checksum(CharSequence message) {
    CRC32C checksum = new CRC32C();
    checksum.update(message.toString().getBytes(StandardCharsets.UTF_8));
    return String.format(Locale.ROOT, "%08x", checksum.getValue());
  }
}
