package io.kamille.core.answer;

import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.Reply;
import io.kamille.core.http.Method;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;
import io.kamille.core.setting.Problems;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.SectionValues;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.SmallFile;
import io.kamille.core.setting.ValueTypes;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * What a route answers to all its requests.
 *
 * @param status of the response; 0 if the route answers nothing by itself
 * @param body its content, unless {@code file} holds it
 * @param file read when the configuration is loaded; null for {@code body}
 * @param type of the content
 */
public record ResponseSettings(int status, String body, @Nullable Path file, String type) {

  /** A page of maintenance is small; so what a client can make us send is, too. */
  private static final int MOST_BYTES = 1024 * 1024;

  private static final String TEXT = "text/plain; charset=utf-8";

  public static final Setting<Integer> STATUS =
      Setting.of(
              "status",
              ValueTypes.wholeNumber(200, 599),
              "The status code of the response, such as 503 for maintenance.")
          .orElse("no response of the route's own", 0);

  public static final Setting<Path> FILE =
      Setting.of(
              "file",
              ValueTypes.file(),
              "A file with the body, of at most 1 MiB. Kamille reads it when it loads the"
                  + " configuration.")
          .orElse("`body`");

  public static final Setting<String> BODY =
      Setting.of("body", ValueTypes.text("text", "text", text -> true), "The body of the response.")
          .defaultsTo("");

  static final Setting<String> TYPE =
      Setting.of(
              "type",
              ValueTypes.text(
                  "media type",
                  "a media type such as text/html; charset=utf-8",
                  text -> text.matches("[!-~]+/[ -~]+")),
              "The `Content-Type` of the response.")
          .defaultsTo("by the name of `file`; else `" + TEXT + "`", ResponseSettings::typeOf);

  private static String typeOf(SectionValues section) {
    Path file = section.find(FILE);
    return file == null ? TEXT : MediaTypes.of(file.toString(), TEXT);
  }

  /** The settings under {@code respond}. */
  public static final Section<ResponseSettings> SECTION =
      Section.of(ResponseSettings.class, STATUS, BODY, FILE, TYPE)
          .checkedBy(ResponseSettings::isWhole);

  private static void isWhole(SectionValues respond, Problems problems) {
    problems.needs(respond, STATUS, "status");
    Integer status = respond.find(STATUS);
    boolean hasBody = respond.isGiven(BODY);
    boolean hasFile = respond.isGiven(FILE);
    if (status != null
        && (hasBody || hasFile)
        && (StatusCode.hasNoContent(status) || status == StatusCode.RESET_CONTENT)) {
      problems.conflict(
          respond,
          STATUS,
          status.toString(),
          "no body and no file beside it, because that status has no content");
    } else if (hasBody && hasFile) {
      problems.conflict(respond, "body and file", "one of them");
    }
    fileCanBeRead(respond, problems);
  }

  static void fileCanBeRead(SectionValues response, Problems problems) {
    problems.readable(
        response, FILE, "a file of at most 1MiB that can be read", ResponseSettings::read);
  }

  public static final ResponseSettings NONE = SECTION.defaults();

  /** Whether the route answers by itself. */
  public boolean isOn() {
    return status != 0;
  }

  /**
   * The body.
   *
   * @throws IOException if its file cannot be read, or is too large
   */
  public byte[] content() throws IOException {
    return content(file, body);
  }

  /** Answers every request alike, with this body. */
  public ExchangeHandler answering(byte[] body) {
    return exchange -> {
      ResponseHead head = head(body.length > 0);
      Reply reply = exchange.reply();
      reply.head(head, body.length);
      if (exchange.request().method() != Method.HEAD && body.length > 0) {
        reply.write(Unpooled.wrappedBuffer(body));
      }
      reply.end(null);
    };
  }

  /** The head of the answer. */
  public ResponseHead head(boolean hasBody) {
    ResponseHead head = ResponseHead.of(status, "Cache-Control", "no-store");
    if (hasBody) {
      head.fields().add("Content-Type", type);
    }
    return head;
  }

  static byte[] content(@Nullable Path file, String body) throws IOException {
    try {
      return file == null ? body.getBytes(StandardCharsets.UTF_8) : read(file);
    } catch (IOException unreadable) {
      throw new IOException(file + ": " + Problems.reason(unreadable), unreadable);
    }
  }

  /**
   * What is in such a file.
   *
   * @throws IOException if it cannot be read, is no regular file or is too large
   */
  public static byte[] read(Path file) throws IOException {
    return SmallFile.read(file, MOST_BYTES);
  }
}
