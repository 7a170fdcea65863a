package io.kamille.core.auth;

import io.kamille.core.answer.SecurityFields;
import io.kamille.core.auth.Verdicts.Verdict;
import io.kamille.core.exchange.ContentSource;
import io.kamille.core.exchange.DiscardingReply;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.exchange.ReplyHandover;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.exchange.TraceStep;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.Method;
import io.kamille.core.http.NormalPath;
import io.kamille.core.http.Octets;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;
import io.kamille.core.loop.WallClock;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.concurrent.Future;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Lets those requests pass that an auth server lets pass. Any loop. */
final class AuthServerStation extends AuthStation {

  /*
   * The question is a request of our own: GET, without content, with the fields that the settings
   * name, and what the client asked for in X-Forwarded fields. The path in it is the one that
   * routes compare: the auth server must not judge /public/../admin by its beginning.
   *
   * The answer comes in whole, up to a limit, before anything is done: one that breaks off is no
   * verdict. All that is not a whole answer in time gives 503.
   *
   * A verdict is kept by Cache-Control of the answer, for all that was sent, the client's address
   * among it: by the shorter of max-age and s-maxage, less Age, for a day at most. One with cookies
   * is not, since they are for once.
   */
  static final int LIMIT_BYTES = 256 << 10;
  static final int DEADLINE_SECONDS = 10;

  /** Of a kept verdict, so that the table is bounded. */
  private static final int KEPT_IDENTITY_BYTES = 2048;

  private static final long MOST_KEPT_SECONDS = TimeUnit.DAYS.toSeconds(1);
  private static final Pattern NOT_KEPT =
      Pattern.compile("(?i)(?:^|[\\s,])(?:no-store|no-cache|private)(?:$|[\\s,=])");
  private static final Pattern LIFETIME =
      Pattern.compile("(?i)(?:^|[\\s,])(?:s-maxage|max-age)(?:=([^\\s,]*))?");

  private static final Failure CLIMBING =
      Failure.request(StatusCode.BAD_REQUEST, "dots between encoded slashes or backslashes");
  private static final Failure TOO_LONG =
      Failure.of(ErrorType.HTTP_PROTOCOL_ERROR, "its response is longer than 256 KiB");
  private static final Failure LATE =
      Failure.of(ErrorType.HTTP_RESPONSE_TIMEOUT, "no whole response in 10 s");
  private static final Failure GONE =
      Failure.of(ErrorType.CLIENT_GONE, "the client closed while the auth server was asked");

  private final ForwardAuthSettings settings;
  private final String kind;
  private final ExchangeHandler server;
  private final Verdicts verdicts;
  private final WallClock clock;

  /**
   * A station before {@code next}.
   *
   * @param server asks the auth server as it is told, and adds {@code X-Forwarded-For}, {@code
   *     -Proto} and {@code -Host}
   */
  AuthServerStation(
      ForwardAuthSettings settings,
      ExchangeHandler server,
      Verdicts verdicts,
      WallClock clock,
      ExchangeHandler next) {
    super(settings.responseFields(), next);
    this.settings = settings;
    this.kind = settings.toString();
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
    String client = exchange.client().getAddress() + "\n";
    byte[] digest = verdicts.digest(kind, asked.isSecure() ? 1 : 0, client + asked.fields());
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
        // Of %%32F is made %2F.
        if (NormalPath.mayClimb(path, 0, path.length, true)) {
          return null;
        }
        uri = Octets.text(path, 0, path.length) + Octets.text(octets, end, came.queryEnd());
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
    copy(settings.requestFields(), came.fields(), asked.fields());
    return asked;
  }

  private static void copy(List<String> names, Fields from, Fields to) {
    for (String name : names) {
      from.all(name).forEach(value -> to.add(name, value));
    }
  }

  /** Seconds for which the answer of an auth server holds; 0 for this request alone. */
  static long lifetimeSeconds(Fields answer) {
    String control = answer.joined(FieldName.CACHE_CONTROL);
    if (control == null || answer.has(FieldName.SET_COOKIE) || NOT_KEPT.matcher(control).find()) {
      return 0;
    }
    // Of several lifetimes the shortest counts.
    long lifetime =
        LIFETIME
            .matcher(control)
            .results()
            .mapToLong(found -> seconds(found.group(1)))
            .min()
            .orElse(0);
    return Math.max(
        0, Math.min(lifetime, MOST_KEPT_SECONDS) - seconds(answer.first(FieldName.AGE)));
  }

  private static long seconds(@Nullable String text) {
    return text != null && text.matches("[0-9]{1,9}") ? Long.parseLong(text) : 0;
  }

  /** One question, and the request that waits for its answer. Confined to its loop. */
  private final class Question extends DiscardingReply implements ContentSource {

    private final ReplyHandover client;
    private final Exchange held;
    private final byte[] digest;
    private ContentSource answering = ContentSource.NONE;
    private @Nullable ResponseHead answer;
    // On the heap, so that one that nobody gets needs no release.
    private final ByteBuf content = Unpooled.buffer(0);
    private final Future<?> deadline;

    Question(Exchange exchange, byte[] digest) {
      super(() -> {});
      this.client = ReplyHandover.of(exchange.reply());
      this.held = exchange.behind(client);
      this.digest = digest;
      deadline = held.loop().schedule(() -> miss(LATE), DEADLINE_SECONDS, TimeUnit.SECONDS);
    }

    void ask(RequestHead asked) {
      held.notes().mark(TraceStep.AUTH, "asks the auth server");
      client.open(this);
      if (!isEnded()) {
        server.handle(
            new Exchange(
                held.loop(), held.client(), held.local(), asked, RequestContent.NONE, this));
      }
    }

    @Override
    public void open(ContentSource source) {
      answering = source;
    }

    @Override
    public void head(ResponseHead head, long contentLength) {
      super.head(head, contentLength);
      answer = head.copy();
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
      if (answer != null && endsNow()) {
        if (held.notes().hasInputEnded()) {
          refuse(held, GONE);
        } else if (answer.status() / 100 == 2) {
          letPass(answer.fields());
        } else {
          tell(answer);
        }
      }
    }

    @Override
    public void abort(Failure why) {
      fail(why);
    }

    @Override
    public void fail(Failure why) {
      if (endsNow()) {
        refuse(
            held,
            new Failure(
                why.kind(),
                StatusCode.SERVICE_UNAVAILABLE,
                "the auth server: " + why.reason(),
                why.retryAfterSeconds()));
      }
    }

    private void letPass(Fields fields) {
      Fields identity = new Fields();
      copy(settings.responseFields(), fields, identity);
      long seconds = lifetimeSeconds(fields);
      if (seconds > 0 && identity.toString().length() <= KEPT_IDENTITY_BYTES) {
        long now = clock.nanos();
        verdicts.keep(new Verdict(digest, now + TimeUnit.SECONDS.toNanos(seconds), identity), now);
      }
      pass(held, identity, fields.all(FieldName.SET_COOKIE));
    }

    /** The client gets the answer of the auth server. */
    private void tell(ResponseHead head) {
      held.notes().mark(TraceStep.AUTH, "the auth server answers " + head.status());
      if (held.notes().hasSecurityFields()) {
        SecurityFields.addTo(head.fields(), held.request().isSecure());
      }
      client.head(head, content.readableBytes());
      if (content.isReadable() && held.request().method() != Method.HEAD) {
        client.write(content);
      }
      client.end(null);
    }

    /** The answer is no use. */
    private void miss(Failure why) {
      fail(why);
      answering.cancel(why);
    }

    /** Ends it; false if it had ended before. */
    private boolean endsNow() {
      boolean isFirst = !isEnded();
      ended();
      deadline.cancel(false);
      return isFirst;
    }

    // The client

    @Override
    public void pause() {}

    @Override
    public void resume() {}

    @Override
    public void cancel(Failure why) {
      if (endsNow()) {
        answering.cancel(why);
      }
    }
  }
}
