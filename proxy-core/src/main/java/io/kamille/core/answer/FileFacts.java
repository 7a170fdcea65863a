package io.kamille.core.answer;

import io.kamille.core.http.ContentCoding;
import io.kamille.core.http.HttpDate;
import io.kamille.core.http.ResponseHead;
import org.jspecify.annotations.Nullable;

/**
 * What is said of a file in responses.
 *
 * @param lengthBytes of what is sent, in its coding
 * @param modifiedSeconds when it was last written (epoch)
 * @param entityTag a strong one: it names the nanosecond of the last write, and the length
 * @param mediaType of the file without coding
 * @param coding of the compressed file that stands for it, or null
 * @param varies whether other requests may get another coding
 */
record FileFacts(
    long lengthBytes,
    long modifiedSeconds,
    String entityTag,
    String mediaType,
    @Nullable ContentCoding coding,
    boolean varies) {

  String lastModified() {
    return HttpDate.format(modifiedSeconds);
  }

  /** A head with these facts. */
  ResponseHead head(int status) {
    ResponseHead head = ResponseHead.of(status, "ETag", entityTag, "Last-Modified", lastModified());
    if (varies) {
      head.fields().add("Vary", "Accept-Encoding");
    }
    if (status != 304) {
      head.fields().add("Content-Type", mediaType).add("Accept-Ranges", "bytes");
      if (coding != null) {
        head.fields().add("Content-Encoding", coding.token());
      }
    }
    return head;
  }
}
