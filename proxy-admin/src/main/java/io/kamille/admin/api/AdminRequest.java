package io.kamille.admin.api;

import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a resource may know of a request.
 *
 * @param path the request target without the query, as it came
 * @param query what stands behind the question mark as it came, or null without one
 * @param hosts the values of all {@code Host} lines, or the authority of an absolute-form target
 * @param authorization the value of that field
 * @param contentType the value of that field
 * @param content valid until the request is answered
 */
public record AdminRequest(
    String method,
    String path,
    @Nullable String query,
    List<String> hosts,
    @Nullable String authorization,
    @Nullable String contentType,
    ByteBuffer content) {

  public AdminRequest {
    hosts = List.copyOf(hosts);
  }

  /** The method whose rules apply: a HEAD is answered as a GET, its content left out on the way. */
  String effectiveMethod() {
    return method.equals("HEAD") ? "GET" : method;
  }
}
