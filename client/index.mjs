// One implementation for both module systems, so that there is one copy of every class in a process.
import client from "./index.js";

export const {
  createClient,
  ClientError,
  isClientError,
  isTagged,
  isConflictError,
  isForbiddenError,
  isInputNotFoundError,
  isInvalidCursorError,
  isInvalidRequestError,
  isMessageNotFoundError,
  isPermissionNotFoundError,
  isProviderNotFoundError,
  isPtyNotFoundError,
  isQuestionNotFoundError,
  isServiceUnavailableError,
  isSessionBacklogError,
  isSessionBusyError,
  isSessionMessageNotFoundError,
  isSessionNotFoundError,
  isStorePoisonedError,
  isUnauthorizedError,
  isUnknownError,
} = client;
