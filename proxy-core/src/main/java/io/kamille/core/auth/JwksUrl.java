package io.kamille.core.auth;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** Keys behind a URL. They are fetched now and then, and earlier if there is doubt. */
final class JwksUrl extends AuthSource<JwtKeys> {

  /*
   * Tokens never cause a fetch of their own: one with an unknown key leaves a doubt, and a look
   * fetches if the last fetch is long enough ago. A fetch that fails leaves what there is.
   */
  static final long FETCH_NANOS = TimeUnit.MINUTES.toNanos(5);
  static final long DOUBT_NANOS = TimeUnit.SECONDS.toNanos(30);
  private static final Duration DEADLINE = Duration.ofSeconds(10);

  private final HttpClient client = HttpClient.newBuilder().connectTimeout(DEADLINE).build();
  private final HttpRequest request;
  private final AtomicBoolean isFetching = new AtomicBoolean();
  // Volatile: set on any thread, read by whoever looks.
  private volatile boolean isDoubtful = true;
  private long lastNanos;
  private boolean isBegun;

  JwksUrl(String url) {
    super(url);
    request = HttpRequest.newBuilder(URI.create(url)).timeout(DEADLINE).build();
  }

  @Override
  void doubt() {
    isDoubtful = true;
  }

  @Override
  void look(long nowNanos) {
    long passed = nowNanos - lastNanos;
    boolean isDue = !isBegun || passed >= FETCH_NANOS || (isDoubtful && passed >= DOUBT_NANOS);
    if (isDue && isFetching.compareAndSet(false, true)) {
      isBegun = true;
      isDoubtful = false;
      lastNanos = nowNanos;
      client
          .sendAsync(
              request, BodyHandlers.limiting(BodyHandlers.ofByteArray(), AuthFile.LIMIT_BYTES))
          .orTimeout(DEADLINE.toSeconds(), TimeUnit.SECONDS)
          .whenComplete(this::taken);
    }
  }

  boolean isFetching() {
    return isFetching.get();
  }

  private void taken(@Nullable HttpResponse<byte[]> response, @Nullable Throwable trouble) {
    try {
      if (response == null) {
        throw new IOException("it cannot be fetched (" + trouble + ")");
      }
      if (response.statusCode() != 200) {
        throw new IOException("status code " + response.statusCode() + " (expected: 200)");
      }
      replace(JwtKeys.parse(response.body()));
    } catch (IOException wrong) {
      doubt();
      keep(request.uri() + ": " + wrong.getMessage());
    } finally {
      isFetching.set(false);
    }
  }
}
