"""Reports on models: how exact their dynamics are."""
