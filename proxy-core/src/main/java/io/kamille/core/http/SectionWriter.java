package io.kamille.core.http;

import java.util.Arrays;

/**
 * Puts a header section together, as one version of HTTP encodes it, in an array of its own.
 * Confined to its loop; one per loop, used for one section at a time.
 */
public abstract class SectionWriter {

  /** A section larger than this does not stay in the scratch array. */
  private static final int KEEP_BYTES = 128 * 1024;

  protected byte[] octets = new byte[1024];
  protected int length;

  /** Writes the status of a response, with which its section begins. */
  public abstract void status(int status);

  /** Writes a field. The value is ASCII. */
  public abstract void line(FieldName name, String value);

  /** Writes a field with a number that is not negative. */
  public abstract void line(FieldName name, long value);

  /** Writes a line of a section. */
  public abstract void line(Fields fields, int index);

  /** Writes field lines as HTTP/1 encodes them, each with its CRLF. They have no fault. */
  public abstract void lines(byte[] source, int from, int to);

  /** Octets written so far. */
  public final int length() {
    return length;
  }

  /** Lets go of the memory that a section of unusual size took. */
  public final void trim() {
    if (octets.length > KEEP_BYTES) {
      octets = new byte[1024];
    }
  }

  protected final void room(int count) {
    if (octets.length - length < count) {
      octets = Arrays.copyOf(octets, Math.max(octets.length * 2, length + count));
    }
  }
}
