package io.kamille.core.exchange;

import io.kamille.core.http.Fields;
import io.kamille.core.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import java.util.Arrays;
import java.util.List;

/** Passes on with fields of its own, also what is stored. Confined to the exchange's loop. */
public class LabelledReply extends PassingReply {

  private final List<Label> labels;

  /**
   * A field, also as the line that a stored response gets.
   *
   * @param isOnly whether it takes the place of others of its name
   */
  @SuppressWarnings("ArrayRecordComponent") // nobody compares labels
  public record Label(String name, String value, boolean isOnly, byte[] line) {

    private Label(String name, String value, boolean isOnly) {
      this(name, value, isOnly, Fields.octetsOf(name + ": " + value + "\r\n"));
    }

    /** One in place of what comes. */
    public static Label of(String name, String value) {
      return new Label(name, value, true);
    }

    /** One beside what comes. */
    public static Label more(String name, String value) {
      return new Label(name, value, false);
    }
  }

  /** Passes on to {@code reply}, with those fields. */
  public LabelledReply(Reply reply, List<Label> labels) {
    super(reply);
    this.labels = labels;
  }

  @Override
  public void head(ResponseHead head, long contentLength) {
    for (Label label : labels) {
      if (label.isOnly()) {
        head.fields().remove(label.name());
      }
      head.fields().add(label.name(), label.value());
    }
    super.head(head, contentLength);
  }

  @Override
  public void stored(
      int status, byte[] ownLines, int ownLength, ByteBuf linesAndContent, long contentLength) {
    byte[] own = labelled(ownLines, ownLength);
    super.stored(status, own, own.length, linesAndContent, contentLength);
  }

  @Override
  public void storedHead(
      int status, byte[] ownLines, int ownLength, ByteBuf lines, long contentLength) {
    byte[] own = labelled(ownLines, ownLength);
    super.storedHead(status, own, own.length, lines, contentLength);
  }

  private byte[] labelled(byte[] lines, int length) {
    int end = length;
    for (Label label : labels) {
      end += label.line().length;
    }
    byte[] all = Arrays.copyOf(lines, end);
    int at = length;
    for (Label label : labels) {
      System.arraycopy(label.line(), 0, all, at, label.line().length);
      at += label.line().length;
    }
    return all;
  }
}
