package io.kamille.core.auth;

import io.kamille.core.auth.Verdicts.Verdict;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.Failure;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import io.kamille.core.loop.WallClock;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import javax.crypto.Mac;
import org.jspecify.annotations.Nullable;

/** Lets those pass who give a name and its password (RFC 7617). Any loop. */
public final class BasicStation extends AuthStation {

  /*
   * A password is checked once, on a thread of AuthThreads. Then its digest holds until the file
   * changes, since the digest has the number of the reading.
   */
  private static final byte[] KIND = "basic".getBytes(StandardCharsets.US_ASCII);
  private static final String SCHEME = "Basic ";
  private static final long KEPT_NANOS = TimeUnit.DAYS.toNanos(1);

  @SuppressWarnings("ArrayRecordComponent") // compared with nothing
  private record Credentials(String name, byte[] password) {}

  private final AuthSource<Users> file;
  private final Failure none;
  private final Failure wrong;
  private final AuthThreads threads;
  private final Verdicts verdicts;
  private final WallClock clock;

  /**
   * A station before {@code next}. Reads the file: blocks.
   *
   * @throws UncheckedIOException if the file is not right
   */
  public BasicStation(
      BasicAuthSettings settings, AuthThreads threads, WallClock clock, ExchangeHandler next) {
    super(List.of(), next);
    Path path = Objects.requireNonNull(settings.usersFile(), "users-file");
    try {
      file = threads.source("users " + path, () -> AuthFile.open(path, Users::parse));
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable.getMessage(), unreadable);
    }
    String challenge = SCHEME + "realm=\"" + settings.realm() + "\", charset=\"UTF-8\"";
    none = unauthorized("a name and a password are needed", challenge);
    wrong = unauthorized("the name or the password is wrong", challenge);
    this.threads = threads;
    this.verdicts = threads.verdicts();
    this.clock = clock;
  }

  /**
   * Whether the file is right.
   *
   * @throws IOException with what is not
   */
  public static @Nullable Object check(Path file) throws IOException {
    return AuthFile.open(file, Users::parse);
  }

  @Override
  public void handle(Exchange exchange) {
    Fields fields = exchange.request().fields();
    Users users = users();
    int line = fields.indexOf(FieldName.AUTHORIZATION);
    if (line < 0) {
      refuse(exchange, none);
      return;
    }
    Mac mac = verdicts.begin(KIND);
    Verdicts.add(mac, users.number());
    Verdicts.add(mac, fields.octets(), fields.valueStart(line), fields.valueEnd(line));
    byte[] digest = mac.doFinal();
    boolean isOnly = fields.count(FieldName.AUTHORIZATION) == 1;
    if (isOnly && verdicts.find(digest, clock.nanos()) != null) {
      pass(exchange, NOBODY, List.of());
      return;
    }
    Credentials given = credentials(exchange.request());
    if (given == null) {
      refuse(exchange, none);
      return;
    }
    check(exchange, threads, () -> found(users, given, digest));
  }

  private Users users() {
    return Objects.requireNonNull(file.value(), "users");
  }

  /** Off the loops. */
  private Found found(Users users, Credentials given, byte[] digest) {
    long now = clock.nanos();
    // The one before it may have had the same.
    if (verdicts.find(digest, now) == null) {
      if (!users.admits(given.name(), given.password())) {
        return Found.refused(wrong);
      }
      verdicts.keep(new Verdict(digest, now + KEPT_NANOS, NOBODY), now);
    }
    return new Found(null, NOBODY);
  }

  /** What the request's only {@code Authorization} says; null if it has none of this kind. */
  private static @Nullable Credentials credentials(RequestHead request) {
    byte[] pair = null;
    String value = credentials(request, SCHEME);
    try {
      pair = value == null ? null : Base64.getDecoder().decode(value);
    } catch (IllegalArgumentException noBase64) {
      return null;
    }
    int colon = 0;
    while (pair != null && colon < pair.length && pair[colon] != ':') {
      colon++;
    }
    if (pair == null || colon == pair.length || hasControl(pair)) {
      return null;
    }
    String name = new String(pair, 0, colon, StandardCharsets.UTF_8);
    return new Credentials(name, Arrays.copyOfRange(pair, colon + 1, pair.length));
  }

  private static boolean hasControl(byte[] octets) {
    for (byte octet : octets) {
      if ((octet >= 0 && octet < ' ') || octet == 0x7f) {
        return true;
      }
    }
    return false;
  }

  @Override
  public AuthExplanation explain(RequestHead request) {
    Credentials given = credentials(request);
    boolean isKnown = given != null && users().has(given.name());
    return new AuthExplanation(
        !isKnown,
        given == null
            ? "no name and password"
            : "a name that the file has" + (isKnown ? "" : " not"),
        isKnown
            ? "it passes with the right password; another gets 401 (Unauthorized)"
            : "it gets 401 (Unauthorized)");
  }
}
