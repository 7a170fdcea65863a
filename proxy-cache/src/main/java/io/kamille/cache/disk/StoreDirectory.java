package io.kamille.cache.disk;

import java.io.IOException;
import java.util.List;

/** Where the files of a store lie: a directory that is ours alone. Any thread. */
public interface StoreDirectory extends AutoCloseable {

  /** The names of its files, in no order. */
  List<String> names() throws IOException;

  /** Makes a file that only its owner may read, for reading and writing. */
  StoreFile create(String name) throws IOException;

  /** Opens a file for reading. */
  StoreFile open(String name) throws IOException;

  /** Deletes a file, if it is there. */
  void delete(String name) throws IOException;

  /** Lets others use the directory. */
  @Override
  void close() throws IOException;
}
