// libgit2's objects with an owner, and its errors as text. For this folder's .cpp files only.
#pragma once

#include <git2.h>
#include <string>

#include "storage/base/handle.hpp"
#include "storage/model/hex.hpp"

namespace nightjar::git {

using CommitHandle = Handle<git_commit, git_commit_free>;
using TreeHandle = Handle<git_tree, git_tree_free>;
using TreeEntryHandle = Handle<git_tree_entry, git_tree_entry_free>;
using ObjectHandle = Handle<git_object, git_object_free>;
using BlobHandle = Handle<git_blob, git_blob_free>;
using DiffHandle = Handle<git_diff, git_diff_free>;
using RemoteHandle = Handle<git_remote, git_remote_free>;

// What libgit2 says about its last failure on this thread.
std::string last_error();

git_oid to_oid(const CommitSha& sha);
CommitSha to_sha(const git_oid& oid);

}  // namespace nightjar::git
