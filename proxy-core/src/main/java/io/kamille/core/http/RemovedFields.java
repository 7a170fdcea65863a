package io.kamille.core.http;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collection;
import java.util.EnumSet;
import java.util.Set;

/**
 * Names of request fields that go no further. Immutable; any thread.
 *
 * <p>What is neither letter nor digit counts as a dash: an origin that reads fields as CGI
 * variables (RFC 3875 §4.1.18) cannot tell {@code X_Forwarded_Host} from {@code X-Forwarded-Host},
 * and some make {@code _} of every such octet.
 */
public final class RemovedFields {

  /** By the length of the name; in lower case, with dashes. */
  private final byte[][][] byLength;

  /** Those names, and the same with other octets in place of dashes. */
  public RemovedFields(Collection<String> names) {
    int longest = names.stream().mapToInt(String::length).max().orElse(-1);
    byLength = new byte[longest + 1][0][];
    for (String name : names) {
      byte[] folded = name.getBytes(StandardCharsets.US_ASCII);
      for (int i = 0; i < folded.length; i++) {
        folded[i] = fold(folded[i]);
      }
      byte[][] equallyLong = byLength[folded.length];
      byLength[folded.length] = Arrays.copyOf(equallyLong, equallyLong.length + 1);
      byLength[folded.length][equallyLong.length] = folded;
    }
  }

  /** Whether line {@code index} has one of the names. */
  public boolean includes(Fields fields, int index) {
    int start = fields.nameStart(index);
    int length = fields.nameEnd(index) - start;
    if (length >= byLength.length) {
      return false;
    }
    for (byte[] name : byLength[length]) {
      if (spells(fields.octets(), start, name)) {
        return true;
      }
    }
    return false;
  }

  /** Removes all lines with these names. */
  public void removeFrom(Fields fields) {
    removeFrom(fields, EnumSet.noneOf(FieldName.class));
  }

  /** The same, but for lines with the very names {@code kept}. */
  public void removeFrom(Fields fields, Set<FieldName> kept) {
    for (int i = fields.size() - 1; i >= 0; i--) {
      // Removing a name takes all its lines, so that i may point behind the last by now.
      if (i < fields.size() && includes(fields, i) && !kept.contains(fields.knownAt(i))) {
        fields.remove(fields.nameAt(i));
      }
    }
  }

  private static boolean spells(byte[] octets, int start, byte[] name) {
    for (int i = 0; i < name.length; i++) {
      if (fold(octets[start + i]) != name[i]) {
        return false;
      }
    }
    return true;
  }

  private static byte fold(byte octet) {
    byte lower = Octets.tokenLower(octet);
    return Character.isLetterOrDigit(lower) ? lower : (byte) '-';
  }
}
