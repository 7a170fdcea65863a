package io.kamille.core.exchange;

import io.kamille.core.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Passes on with one field of its own, in place of what comes, also of what is stored. Confined to
 * the exchange's loop.
 */
public class LabelledReply extends PassingReply {

  private final Label label;

  /** A field, also as the line that a stored response gets. */
  @SuppressWarnings("ArrayRecordComponent") // nobody compares labels
  public record Label(String name, String value, byte[] line) {

    public static Label of(String name, String value) {
      byte[] line = (name + ": " + value + "\r\n").getBytes(StandardCharsets.ISO_8859_1);
      return new Label(name, value, line);
    }
  }

  /** Passes on to {@code reply}, with that field. */
  public LabelledReply(Reply reply, Label label) {
    super(reply);
    this.label = label;
  }

  @Override
  public void head(ResponseHead head, long contentLength) {
    head.fields().remove(label.name());
    head.fields().add(label.name(), label.value());
    super.head(head, contentLength);
  }

  @Override
  public void stored(
      int status, byte[] ownLines, int ownLength, ByteBuf linesAndContent, long contentLength) {
    byte[] lines = labelled(ownLines, ownLength);
    super.stored(status, lines, lines.length, linesAndContent, contentLength);
  }

  @Override
  public void storedHead(
      int status, byte[] ownLines, int ownLength, ByteBuf lines, long contentLength) {
    byte[] own = labelled(ownLines, ownLength);
    super.storedHead(status, own, own.length, lines, contentLength);
  }

  private byte[] labelled(byte[] lines, int length) {
    byte[] line = label.line();
    byte[] both = Arrays.copyOf(lines, length + line.length);
    System.arraycopy(line, 0, both, length, line.length);
    return both;
  }
}
