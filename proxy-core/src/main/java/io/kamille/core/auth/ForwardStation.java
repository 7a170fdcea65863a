package io.kamille.core.auth;

import io.kamille.core.answer.SecurityFields;
import io.kamille.core.auth.Verdicts.Verdict;
import io.kamille.core.exchange.ContentSource;
import io.kamille.core.exchange.DiscardingReply;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.Kind;
import io.kamille.core.exchange.Reply;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.exchange.TraceStep;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.Method;
import io.kamille.core.http.NormalPath;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;
import io.kamille.core.loop.WallClock;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.concurrent.Future;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import javax.crypto.Mac;
import org.jspecify.annotations.Nullable;

/** Lets those requests pass that an auth server lets pass. Any loop. */
public final class ForwardStation extends AuthStation {

  /*
   * The question is a request of our own: GET, without content, with the fields that the settings
   * name, and what the client asked for in X-Forwarded fields. The path in it is the one that
   * routes compare: the auth server must not judge /public/../admin by its beginning.
   *
   * The answer comes in whole, up to a limit, before anything is done: one that breaks off is no
   * verdict. All that is not a whole answer in time gives 503.
   *
   * A verdict is kept by Cache-Control of the answer, as by a shared cache (RFC 9111 §3), for all
   * that was sent, the client's address among it. One with cookies is not, since they are for once.
   */
  static final int LIMIT_BYTES = 256 << 10;
  static final int DEADLINE_SECONDS = 10;

  /** Of a kept verdict, so that the table is bounded. */
  private static final int KEPT_IDENTITY_BYTES = 2048;

  private static final long MOST_KEPT_SECONDS = TimeUnit.DAYS.toSeconds(1);

  private static final Failure CLIMBING =
      Failure.request(StatusCode.BAD_REQUEST, "dots between encoded slashes or backslashes");
  private static final Failure TOO_LONG =
      Failure.of(Kind.HTTP_PROTOCOL_ERROR, "its response is longer than 256 KiB");
  private static final Failure LATE =
      Failure.of(Kind.HTTP_RESPONSE_TIMEOUT, "no whole response in 10 s");

  private final ForwardAuthSettings settings;
  private final byte[] kind;
  private final ExchangeHandler server;
  private final Verdicts verdicts;
  private final WallClock clock;

  /**
   * A station before {@code next}.
   *
   * @param server asks the auth server as it is told, and adds {@code X-Forwarded-For}, {@code
   *     -Proto} and {@code -Host}
   */
  public ForwardStation(
      ForwardAuthSettings settings,
      ExchangeHandler server,
      Verdicts verdicts,
      WallClock clock,
      ExchangeHandler next) {
    super(settings.responseFields(), next);
    this.settings = settings;
    this.kind = ("forward " + settings).getBytes(StandardCharsets.UTF_8);
    this.server = server;
    this.verdicts = verdicts;
    this.clock = clock;
  }

  @Override
  public void handle(Exchange exchange) {
    RequestHead asked = question(exchange.request());
    if (asked == null) {
      refuse(exchange, CLIMBING);
      return;
    }
    byte[] digest = digest(exchange, asked);
    Verdict known = verdicts.find(digest, clock.nanos());
    if (known != null) {
      pass(exchange, known.identity(), List.of());
    } else {
      new Question(exchange, digest).ask(asked);
    }
  }

  /** What the auth server is asked; null for a path that means different things to servers. */
  private @Nullable RequestHead question(RequestHead came) {
    byte[] octets = came.octets();
    int start = came.pathStart();
    int end = came.pathEnd();
    String uri = came.pathAndQuery();
    if (start < end && octets[start] == '/') {
      if (NormalPath.mayClimb(octets, start, end, true)) {
        return null;
      }
      if (NormalPath.mayDiffer(octets, start, end)) {
        byte[] path = NormalPath.encoded(NormalPath.of(octets, start, end), 0);
        uri = text(path, 0, path.length) + text(octets, end, came.queryEnd());
      }
    }
    RequestHead asked =
        RequestHead.of(
            "GET",
            (came.isSecure() ? "https://" : "http://") + came.authority() + settings.path(),
            "X-Forwarded-Method",
            came.methodText(),
            "X-Forwarded-Uri",
            uri);
    Fields fields = came.fields();
    for (String name : settings.requestFields()) {
      for (int i = 0; i < fields.size(); i++) {
        if (fields.nameIs(i, name)) {
          asked.fields().addFrom(fields, i);
        }
      }
    }
    return asked;
  }

  private static String text(byte[] octets, int start, int end) {
    return new String(octets, start, end - start, StandardCharsets.ISO_8859_1);
  }

  private byte[] digest(Exchange exchange, RequestHead asked) {
    Mac mac = verdicts.begin(kind);
    Verdicts.add(mac, asked.isSecure() ? 1 : 0);
    InetAddress client = exchange.client().getAddress();
    byte[] address = client == null ? new byte[0] : client.getAddress();
    Verdicts.add(mac, address, 0, address.length);
    Fields fields = asked.fields();
    for (int i = 0; i < fields.size(); i++) {
      Verdicts.add(mac, fields.octets(), fields.nameStart(i), fields.nameEnd(i));
      Verdicts.add(mac, fields.octets(), fields.valueStart(i), fields.valueEnd(i));
    }
    return mac.doFinal();
  }

  @Override
  public AuthExplanation explain(RequestHead request) {
    RequestHead asked = question(request);
    return new AuthExplanation(
        asked == null,
        "upstream " + settings.upstream() + ", path " + settings.path(),
        asked == null
            ? "its path means different things to servers: 400 (Bad Request)"
            : "the auth server is asked; what follows is for a request that it lets pass");
  }

  /** Seconds for which the answer of an auth server holds; 0 for this request alone. */
  static long lifetimeSeconds(Fields answer) {
    String control = answer.joined(FieldName.CACHE_CONTROL);
    if (control == null || answer.has(FieldName.SET_COOKIE)) {
      return 0;
    }
    long maxAge = -1;
    long shared = -1;
    for (String part : control.toLowerCase(Locale.ROOT).split(",", -1)) {
      String[] directive = part.strip().split("=", 2);
      switch (directive[0]) {
        case "no-store", "no-cache", "private" -> {
          return 0;
        }
        case "max-age" -> maxAge = directive.length == 1 ? 0 : seconds(directive[1]);
        case "s-maxage" -> shared = directive.length == 1 ? 0 : seconds(directive[1]);
        default -> {}
      }
    }
    String age = answer.first(FieldName.AGE);
    long lifetime = Math.min(shared < 0 ? maxAge : shared, MOST_KEPT_SECONDS);
    return Math.max(0, lifetime - (age == null ? 0 : seconds(age)));
  }

  private static long seconds(String text) {
    return text.matches("[0-9]{1,9}") ? Long.parseLong(text) : 0;
  }

  /** One question, and the request that waits for its answer. Confined to its loop. */
  private final class Question extends DiscardingReply {

    private final HeldExchange held;
    private final byte[] digest;
    private ContentSource source = ContentSource.NONE;
    private @Nullable ResponseHead head;
    // On the heap, so that one that nobody gets needs no release.
    private final ByteBuf content = Unpooled.buffer(0);
    private @Nullable Future<?> deadline;

    Question(Exchange exchange, byte[] digest) {
      super(() -> {});
      this.held = HeldExchange.of(exchange, this::giveUp);
      this.digest = digest;
    }

    void ask(RequestHead asked) {
      Exchange exchange = held.exchange();
      if (held.isGone()) {
        return;
      }
      exchange.notes().mark(TraceStep.AUTH, "asks the auth server");
      deadline = exchange.loop().schedule(() -> miss(LATE), DEADLINE_SECONDS, TimeUnit.SECONDS);
      server.handle(
          new Exchange(
              exchange.loop(),
              exchange.client(),
              exchange.local(),
              asked,
              RequestContent.NONE,
              this));
    }

    @Override
    public void open(ContentSource source) {
      this.source = source;
    }

    @Override
    public void head(ResponseHead head, long contentLength) {
      super.head(head, contentLength);
      this.head = head.copy();
      if (contentLength > LIMIT_BYTES) {
        miss(TOO_LONG);
      }
    }

    @Override
    public void write(ByteBuf chunk) {
      boolean fits = content.readableBytes() + chunk.readableBytes() <= LIMIT_BYTES;
      if (fits && !isEnded()) {
        content.writeBytes(chunk);
      }
      super.write(chunk);
      if (!fits) {
        miss(TOO_LONG);
      }
    }

    @Override
    public void end(@Nullable Fields trailers) {
      ResponseHead answer = head;
      if (answer != null && !isEnded()) {
        over();
        decide(answer);
      }
    }

    @Override
    public void abort(Failure why) {
      fail(why);
    }

    @Override
    public void fail(Failure why) {
      if (!isEnded()) {
        over();
        refuse(
            held.exchange(),
            new Failure(
                why.kind(),
                StatusCode.SERVICE_UNAVAILABLE,
                "the auth server: " + why.reason(),
                why.retryAfterSeconds()));
      }
    }

    private void decide(ResponseHead answer) {
      if (answer.status() / 100 != 2) {
        tell(answer);
        return;
      }
      Fields identity = new Fields();
      int bytes = 0;
      for (String name : settings.responseFields()) {
        for (String value : answer.fields().all(name)) {
          identity.add(name, value);
          bytes += value.length();
        }
      }
      long seconds = lifetimeSeconds(answer.fields());
      if (seconds > 0 && bytes <= KEPT_IDENTITY_BYTES) {
        long now = clock.nanos();
        long until = now + TimeUnit.SECONDS.toNanos(seconds);
        verdicts.keep(new Verdict(digest, until, identity), now);
      }
      pass(held.exchange(), identity, answer.fields().all(FieldName.SET_COOKIE));
    }

    /** The client gets the answer of the auth server. */
    private void tell(ResponseHead answer) {
      Exchange exchange = held.exchange();
      exchange.notes().mark(TraceStep.AUTH, "the auth server answers " + answer.status());
      if (exchange.notes().hasSecurityFields()) {
        SecurityFields.addTo(answer.fields(), exchange.request().isSecure());
      }
      Reply reply = exchange.reply();
      reply.head(answer, content.readableBytes());
      if (content.isReadable() && exchange.request().method() != Method.HEAD) {
        reply.write(content);
      }
      reply.end(null);
    }

    /** The answer is no use. */
    private void miss(Failure why) {
      if (!isEnded()) {
        fail(why);
        source.cancel(why);
      }
    }

    /** The client has gone away. */
    private void giveUp(Failure why) {
      if (!isEnded()) {
        over();
        source.cancel(why);
      }
    }

    private void over() {
      ended();
      if (deadline != null) {
        deadline.cancel(false);
      }
    }
  }
}
