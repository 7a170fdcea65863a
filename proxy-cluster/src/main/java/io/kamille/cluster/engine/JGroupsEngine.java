package io.kamille.cluster.engine;

import io.kamille.cluster.ClusterSettings;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jgroups.Address;
import org.jgroups.BytesMessage;
import org.jgroups.JChannel;
import org.jgroups.Message;
import org.jgroups.Receiver;
import org.jgroups.View;
import org.jgroups.conf.ClassConfigurator;
import org.jgroups.logging.LogFactory;
import org.jgroups.protocols.FD_ALL3;
import org.jgroups.protocols.FRAG4;
import org.jgroups.protocols.MERGE3;
import org.jgroups.protocols.MFC;
import org.jgroups.protocols.TCP;
import org.jgroups.protocols.TCPPING;
import org.jgroups.protocols.UFC;
import org.jgroups.protocols.UNICAST3;
import org.jgroups.protocols.VERIFY_SUSPECT2;
import org.jgroups.protocols.pbcast.GMS;
import org.jgroups.protocols.pbcast.NAKACK2;
import org.jgroups.protocols.pbcast.STABLE;
import org.jgroups.protocols.raft.ELECTION2;
import org.jgroups.protocols.raft.NO_DUPES;
import org.jgroups.protocols.raft.RAFT;
import org.jgroups.protocols.raft.REDIRECT;
import org.jgroups.raft.RaftHandle;
import org.jgroups.raft.StateMachine;
import org.jgroups.util.ExtendedUUID;
import org.jgroups.util.TLSClientAuth;
import org.jspecify.annotations.Nullable;

/** A {@link ClusterEngine} by JGroups and jgroups-raft. Any thread. */
public final class JGroupsEngine implements ClusterEngine {

  /*
   * All of JGroups that is used, and how it is set, is in this class. Of its protocols those are
   * left out that open a port of their own or speak in clear text.
   *
   * A message is an octet that says what it is, for ASK and ANSWER the number of the question, and
   * the content. JGroups keeps the order of the messages of one member; these go without, so that
   * a question that waits keeps nothing up.
   */
  private static final byte TELL = 0;
  private static final byte ASK = 1;
  private static final byte ANSWER = 2;

  private static final int LOG_LIMIT_BYTES = 8 << 20;
  private static final long SILENT_MILLIS = 8_000;
  private static final long SILENT_LOOK_MILLIS = 2_000;
  private static final long SUSPECTED_MILLIS = 1_000;
  private static final long JOIN_MILLIS = 1_500;
  private static final long RESEND_MILLIS = 200;
  private static final int CONNECT_MILLIS = 500;
  private static final int HANDSHAKE_MILLIS = 5_000;
  private static final int MERGE_LEAST_MILLIS = 1_000;
  private static final int MERGE_MOST_MILLIS = 5_000;

  private final JChannel channel;
  private final RAFT raft;
  private final RaftHandle log;
  private final Listener listener;
  private final AtomicLong lastQuestion = new AtomicLong();
  private final ConcurrentMap<Long, Question> questions = new ConcurrentHashMap<>();
  private volatile View view = new View();

  /** Answers that are waited for. */
  private static final class Question {

    private final Map<String, byte[]> answers = new HashMap<>();
    private final CompletableFuture<?> complete = new CompletableFuture<>();

    synchronized void answered(String node, byte[] answer) {
      answers.put(node, answer);
    }

    synchronized void expect(Collection<String> nodes) {
      if (answers.keySet().containsAll(nodes)) {
        complete.complete(null);
      }
    }

    synchronized Map<String, byte[]> answers() {
      return Map.copyOf(answers);
    }
  }

  /**
   * Joins the cluster, or begins it. Waits for that.
   *
   * @param directory of the log
   * @param hosts where others may be; asked again and again
   * @throws IOException if the certificates cannot be read, or the address cannot be had
   */
  public static JGroupsEngine join(
      ClusterSettings settings,
      Path directory,
      Supplier<List<InetSocketAddress>> hosts,
      State state,
      Listener listener)
      throws IOException {
    Files.createDirectories(directory);
    JGroupsEngine engine = new JGroupsEngine(settings, directory, hosts, state, listener);
    try {
      engine.channel.connect(settings.name());
      return engine;
    } catch (Exception refused) {
      engine.channel.close();
      throw new IOException("cannot join the cluster: " + refused.getMessage(), refused);
    }
  }

  private JGroupsEngine(
      ClusterSettings settings,
      Path directory,
      Supplier<List<InetSocketAddress>> hosts,
      State state,
      Listener listener)
      throws IOException {
    this.listener = listener;
    LogFactory.useJdkLogger(true);
    InetSocketAddress address = settings.bound().socketAddress();
    raft =
        new RAFT()
            .raftId(settings.node())
            .members(settings.voters())
            .logDir(directory.toString())
            .logUseFsync(true)
            .sendCommitsImmediately(false)
            .resendInterval(RESEND_MILLIS)
            .maxLogSize(LOG_LIMIT_BYTES);
    try {
      channel =
          new JChannel(
              transport(settings, address),
              new Discovered(hosts).portRange(0).numDiscoveryRuns(3),
              new MERGE3().setMinInterval(MERGE_LEAST_MILLIS).setMaxInterval(MERGE_MOST_MILLIS),
              new FD_ALL3().setTimeout(SILENT_MILLIS).setInterval(SILENT_LOOK_MILLIS),
              new VERIFY_SUSPECT2().setTimeout(SUSPECTED_MILLIS),
              new NAKACK2().useMcastXmit(false),
              new UNICAST3(),
              new STABLE(),
              new NO_DUPES(),
              new GMS().printLocalAddress(false).joinTimeout(JOIN_MILLIS),
              new UFC(),
              new MFC(),
              new FRAG4(),
              new ELECTION2(),
              raft,
              new REDIRECT());
    } catch (Exception refused) {
      throw new IOException(refused.getMessage(), refused);
    }
    channel.setName(settings.node());
    channel.setReceiver(new Received());
    log = new RaftHandle(channel, new Entries(state));
  }

  private static TCP transport(ClusterSettings settings, InetSocketAddress address)
      throws IOException {
    TCP tcp = new TCP();
    tcp.setBindAddr(address.getAddress()).setBindPort(address.getPort()).setPortRange(0);
    tcp.setClientBindAddr(address.getAddress())
        .tcpNodelay(true)
        .setSockConnTimeout(CONNECT_MILLIS)
        .setPeerAddrReadTimeout(HANDSHAKE_MILLIS)
        .enableSuspectEvents(true);
    tcp.tls()
        .enabled(true)
        .setSSLContext(MemberTls.context(settings.tls()))
        .setProtocols(new String[] {"TLSv1.3"})
        .setClientAuth(TLSClientAuth.NEED);
    return tcp;
  }

  /** Discovery by what Kamille has looked up, anew each time. */
  private static final class Discovered extends TCPPING {

    private final Supplier<List<InetSocketAddress>> hosts;

    Discovered(Supplier<List<InetSocketAddress>> hosts) {
      this.hosts = hosts;
      setId(ClassConfigurator.getProtocolId(TCPPING.class));
    }

    @Override
    public void findMembers(
        @Nullable List<Address> members, boolean isFirst, org.jgroups.util.Responses responses) {
      setInitialHosts(hosts.get());
      super.findMembers(members, isFirst, responses);
    }
  }

  /** The state as JGroups knows it. */
  private record Entries(State state) implements StateMachine {

    @Override
    public byte[] apply(byte[] octets, int offset, int length, boolean isAnswered) {
      return state.apply(Arrays.copyOfRange(octets, offset, offset + length));
    }

    @Override
    public void readContentFrom(DataInput in) throws IOException {
      byte[] saved = new byte[in.readInt()];
      in.readFully(saved);
      state.load(saved);
    }

    @Override
    public void writeContentTo(DataOutput out) throws IOException {
      byte[] saved = state.save();
      out.writeInt(saved.length);
      out.write(saved);
    }
  }

  private final class Received implements Receiver {

    @Override
    public void receive(Message message) {
      ByteBuffer in = ByteBuffer.wrap(message.getArray(), message.getOffset(), message.getLength());
      Address from = message.getSrc();
      switch (in.get()) {
        case TELL -> listener.told(nodeOf(from), rest(in));
        case ASK -> {
          long question = in.getLong();
          listener.asked(nodeOf(from), rest(in), answer -> send(from, ANSWER, question, answer));
        }
        case ANSWER -> {
          Question question = questions.get(in.getLong());
          if (question != null) {
            question.answered(nodeOf(from), rest(in));
            question.expect(members());
          }
        }
        default -> {}
      }
    }

    @Override
    public void viewAccepted(View next) {
      view = next;
      listener.members(members());
      questions.values().forEach(question -> question.expect(members()));
    }
  }

  private static byte[] rest(ByteBuffer in) {
    byte[] rest = new byte[in.remaining()];
    in.get(rest);
    return rest;
  }

  private static String nodeOf(@Nullable Address address) {
    byte[] name = address instanceof ExtendedUUID named ? named.get(RAFT.raft_id_key) : null;
    return name == null ? String.valueOf(address) : new String(name, StandardCharsets.UTF_8);
  }

  private void send(@Nullable Address to, byte kind, long question, byte[] content) {
    byte[] octets = new byte[1 + (kind == TELL ? 0 : Long.BYTES) + content.length];
    ByteBuffer out = ByteBuffer.wrap(octets).put(kind);
    if (kind != TELL) {
      out.putLong(question);
    }
    out.put(content);
    try {
      channel.send(new BytesMessage(to, octets).setFlag(Message.Flag.OOB));
    } catch (Exception lost) {
      // A member that is told nothing is not current before long.
      System.getLogger("kamille.cluster")
          .log(System.Logger.Level.DEBUG, "message is lost: {0}", lost.getMessage());
    }
  }

  @Override
  public Position position() {
    Address leader = log.leader();
    return new Position(
        raft.lastAppended(),
        raft.commitIndex(),
        raft.currentTerm(),
        leader == null ? null : nodeOf(leader));
  }

  @Override
  public long logBytes() {
    return raft.logSizeInBytes();
  }

  @Override
  public List<String> members() {
    List<String> nodes = new ArrayList<>();
    for (Address member : view.getMembersRaw()) {
      nodes.add(nodeOf(member));
    }
    return nodes;
  }

  @Override
  public void tell(byte[] message) {
    send(null, TELL, 0, message);
  }

  @Override
  public Map<String, byte[]> ask(byte[] message, Duration limit) {
    long number = lastQuestion.incrementAndGet();
    Question question = new Question();
    questions.put(number, question);
    try {
      send(null, ASK, number, message);
      question.complete.get(limit.toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException | ExecutionException late) {
      // What came is what counts.
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    } finally {
      questions.remove(number);
    }
    return question.answers();
  }

  @Override
  public byte @Nullable [] append(byte[] entry, Duration limit) {
    try {
      return log.setAsync(entry, 0, entry.length).get(limit.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      return null;
    } catch (Exception refused) {
      return null;
    }
  }

  @Override
  public void hurry() {
    if (raft.isLeader()) {
      raft.flushCommitTable();
    }
  }

  @Override
  public void close() {
    channel.close();
    Set.copyOf(questions.values()).forEach(question -> question.complete.complete(null));
  }
}
